#include "npuscope/analysis/rules.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "analysis/builtin_rules.hpp"
#include "base/near_names.hpp"
#include "base/parallel.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::size_t max_rules = 1'000;

std::string place_of(const std::string& file, const toml::source_region& source) {
  return fmt::format("{}:{}", file, source.begin.line);
}

}  // namespace

Result<Rules> Rules::parse(std::string_view text, const std::string& name) {
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return usage_error("{}: {}; correct the file of rules", place_of(name, error.source()),
                       error.description());
  }
  Rules rules;
  for (const auto& [key, node] : root) {
    if (key.str() == "rule" && node.is_array_of_tables()) continue;
    return usage_error("{}: '{}' is not a rule; begin each with [[rule]]",
                       place_of(name, node.source()), key.str());
  }
  const toml::array* list = root["rule"].as_array();
  if (list == nullptr || list->empty()) {
    return usage_error("{}: holds no rule; begin each with [[rule]]", name);
  }
  if (list->size() > max_rules) {
    return usage_error("{}: {} rules are more than {}; join some into one pattern with |", name,
                       list->size(), max_rules);
  }
  for (const toml::node& each : *list) {
    Rule rule;
    for (const auto& [key, node] : *each.as_table()) {
      const std::string where = place_of(name, node.source());
      const auto value = node.value<std::string>();
      if (!value) return usage_error("{}: '{}' must be a text", where, key.str());
      if (key.str() == "name" || key.str() == "part") {
        (key.str() == "name" ? rule.name : rule.part) = *value;
        continue;
      }
      constexpr std::string_view places[] = {"any", "node", "op", "kind", "operator"};
      const auto place = std::find(std::begin(places), std::end(places), key.str());
      if (place == std::end(places)) {
        return usage_error(
            "{}: '{}' is not known; a rule has name, part, node, op, kind, operator and any", where,
            key.str());
      }
      auto pattern = Pattern::compile(where, *value);
      if (!pattern) return tl::unexpected(pattern.error());
      rule.conditions.push_back({Place(place - std::begin(places)), std::move(*pattern)});
    }
    const std::string where = place_of(name, each.source());
    if (rule.name.empty()) return usage_error("{}: the rule has no name; give it one", where);
    if (rule.conditions.empty()) {
      return usage_error("{}: rule '{}' has no pattern; give it node, op, kind, operator or any",
                         where, rule.name);
    }
    if (rule.part.empty()) rule.part = rule.name;
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

bool Rules::is_builtin(std::string_view name) {
  return std::any_of(std::begin(builtin_rule_files), std::end(builtin_rule_files),
                     [&](const auto& file) { return file.first == name; });
}

std::vector<std::string> Rules::builtin_names() {
  std::vector<std::string> names;
  for (const auto& [name, toml] : builtin_rule_files) names.emplace_back(name);
  return names;
}

Result<Rules> Rules::builtin(std::string_view name) {
  std::string names;
  for (const auto& [known, toml] : builtin_rule_files) {
    if (known == name) return parse(toml, fmt::format("rules/{}.toml", known));
    names += names.empty() ? known : fmt::format(", {}", known);
  }
  return usage_error("rules '{}' are not built in{}; use one of: {}, or the path of a .toml file",
                     name, did_you_mean(names, name), names);
}

RuledOp ruled(const Profile& profile, const Op& op) {
  return {profile.text(op.node), profile.text(op.name), profile.text(op.kind),
          profile.text(op.node_kind)};
}

bool Rules::obeys(const RuledOp& op, const Condition& condition) {
  const auto found = [&](std::string_view text) { return condition.pattern.found_in(text); };
  const std::string_view label = op.node.empty() ? op.name : op.node;
  switch (condition.place) {
    case Place::node: return found(label);
    case Place::op: return found(op.name);
    case Place::kind: return found(op.kind);
    case Place::does:
      return found(op.node_kind) || found(op.kind) || found(label.substr(label.rfind('/') + 1));
    case Place::any:
      return found(op.node) || found(op.name) || found(op.kind) || found(op.node_kind);
  }
  return false;
}

std::size_t Rules::of(const RuledOp& op) const {
  const auto first = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return std::all_of(rule.conditions.begin(), rule.conditions.end(),
                       [&](const Condition& condition) { return obeys(op, condition); });
  });
  return std::size_t(first - rules_.begin());
}

std::vector<std::uint32_t> Rules::of(const Profile& profile) const {
  std::vector<std::uint32_t> rule_of(profile.ops.size());
  constexpr std::size_t chunk = 1'024;
  parallel_for((rule_of.size() + chunk - 1) / chunk, [&](std::size_t part) {
    const std::size_t end = std::min(rule_of.size(), (part + 1) * chunk);
    for (std::size_t i = part * chunk; i < end; ++i) {
      rule_of[i] = std::uint32_t(of(ruled(profile, profile.ops[i])));
    }
  });
  return rule_of;
}

}  // namespace npuscope::analysis
