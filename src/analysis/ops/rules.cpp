#include "npuscope/analysis/rules.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "analysis/builtin_rules.hpp"
#include "base/near_names.hpp"
#include "base/pattern_set.hpp"

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
  auto patterns = std::make_shared<PatternSet>();
  for (const toml::node& each : *list) {
    const auto rule_number = std::uint32_t(rules.rules_.size());
    Rule rule;
    rule.first_condition = std::uint32_t(rules.conditions_.size());
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
      const auto number = patterns->add(where, *value);
      if (!number) return tl::unexpected(number.error());
      rules.conditions_.push_back({Place(place - std::begin(places)), rule_number});
    }
    rule.conditions = std::uint32_t(rules.conditions_.size()) - rule.first_condition;
    const std::string where = place_of(name, each.source());
    if (rule.name.empty()) return usage_error("{}: the rule has no name; give it one", where);
    if (rule.conditions == 0) {
      return usage_error("{}: rule '{}' has no pattern; give it node, op, kind, operator or any",
                         where, rule.name);
    }
    if (rule.part.empty()) rule.part = rule.name;
    rules.rules_.push_back(std::move(rule));
  }
  const Status compiled = patterns->compile(name);
  if (!compiled) return tl::unexpected(compiled.error());
  rules.patterns_ = std::move(patterns);
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
  static std::mutex one_at_a_time;
  static std::map<std::string_view, Result<Rules>> parsed;  // copies share the patterns
  const std::lock_guard lock(one_at_a_time);
  std::string names;
  for (const auto& [known, toml] : builtin_rule_files) {
    if (known == name) {
      const auto found = parsed.find(known);
      if (found != parsed.end()) return found->second;
      return parsed.emplace(known, parse(toml, fmt::format("rules/{}.toml", known))).first->second;
    }
    names += names.empty() ? known : fmt::format(", {}", known);
  }
  return usage_error("rules '{}' are not built in{}; use one of: {}, or the path of a .toml file",
                     name, did_you_mean(names, name), names);
}

}  // namespace npuscope::analysis
