#include "npuscope/profile/event_roles.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <iterator>

#include "base/try.hpp"
#include "profile/builtin_roles.hpp"
#include "profile/names.hpp"

namespace npuscope {
namespace {

constexpr std::size_t max_rules = 1'000;

constexpr SpanKind roles[] = {SpanKind::kernel,       SpanKind::copy,      SpanKind::communication,
                              SpanKind::host,         SpanKind::wait,      SpanKind::annotation,
                              SpanKind::runtime_call, SpanKind::inference, SpanKind::profiler,
                              SpanKind::instant,      SpanKind::slice};

std::string names_of_roles() {
  std::string names;
  for (const SpanKind role : roles) {
    names.append(names.empty() ? "" : ", ").append(stable_name(role));
  }
  return names;
}

// Reads one [[rule]]; the first error stays.
class RuleReader {
 public:
  RuleReader(const std::string& file, bool is_builtin) : file_(file), is_builtin_(is_builtin) {}

  Result<RoleRule> read(const toml::table& table) {
    bool has_role = false;
    for (const auto& [key, node] : table) {
      has_role = has_role || key.str() == "role";
      TRY(take(key.str(), node));
    }
    const std::string where = place_of(table);
    if (!has_role) {
      return usage_error("{}: the rule has no role; give it one of: {}", where, names_of_roles());
    }
    if (!rule_.category && !rule_.name && !rule_.asks_for_row()) {
      return usage_error(
          "{}: the rule fits every slice; give it category, name, process, thread or arguments",
          where);
    }
    if (!rule_.counter.empty() && rule_.role != SpanKind::instant) {
      return usage_error("{}: 'counter' needs role = \"instant\"", where);
    }
    const bool is_of_steps = !rule_.number.empty() || rule_.if_repeated > 0;
    if (is_of_steps && rule_.role != SpanKind::inference) {
      return usage_error("{}: 'number' and 'if_repeated' need role = \"inference\"", where);
    }
    if (rule_.bytes.empty() != (!rule_.to_device && !rule_.from_device)) {
      return usage_error("{}: 'bytes' needs 'to_device' or 'from_device', and these need 'bytes'",
                         where);
    }
    if (rule_.operation && !is_builtin_ && !rule_.operation->has_group()) {
      return usage_error("{}: 'operator' needs a group, as in '_t_(\\w+)'", where);
    }
    if (rule_.engine != Engine::none && !rule_.thread) {
      return usage_error("{}: 'engine' needs 'thread'", where);
    }
    if (rule_.part != RoleRule::Part::none && rule_.role != SpanKind::annotation) {
      return usage_error("{}: 'part' needs role = \"annotation\"", where);
    }
    return std::move(rule_);
  }

 private:
  std::string place_of(const toml::node& node) const {
    return fmt::format("{}:{}", file_, node.source().begin.line);
  }

  Status take(std::string_view key, const toml::node& node) {
    if (key == "category") return pattern(node, key, rule_.category);
    if (key == "name") return pattern(node, key, rule_.name);
    if (key == "process") return pattern(node, key, rule_.process);
    if (key == "thread") return pattern(node, key, rule_.thread);
    if (key == "to_device") return pattern(node, key, rule_.to_device);
    if (key == "from_device") return pattern(node, key, rule_.from_device);
    if (key == "bytes") return text(node, key, rule_.bytes);
    if (key == "direction") return text(node, key, rule_.direction);
    if (key == "signals") return texts(node, key, rule_.signals);
    if (key == "waits_for") return texts(node, key, rule_.waits_for);
    if (key == "arguments") return texts(node, key, rule_.arguments);
    if (key == "counter") return text(node, key, rule_.counter);
    if (key == "quantity") return text(node, key, rule_.quantity);
    if (key == "series") return texts(node, key, rule_.series);
    if (key == "within") return pattern(node, key, rule_.within);
    if (key == "unless_thread") return pattern(node, key, rule_.unless_thread);
    if (key == "in_order") return yes_or_no(node, key, rule_.in_order);
    if (key == "number") return text(node, key, rule_.number);
    if (key == "if_repeated") return share(node, key, rule_.if_repeated);
    if (key == "part") return part(node);
    if (key == "operator") return pattern(node, key, rule_.operation, Pattern::Groups::kept);
    if (key == "engine") return engine(node);
    if (key == "role") return role(node);
    return usage_error(
        "{}: '{}' is unknown; a rule has category, name, process, thread, arguments, role, bytes, "
        "direction, to_device, from_device, signals, waits_for, counter, series, quantity, within, "
        "unless_thread, in_order, number, if_repeated, part, operator and engine",
        place_of(node), key);
  }

  Status text(const toml::node& node, std::string_view key, std::string& out) {
    const auto value = node.value<std::string>();
    if (!value || value->empty()) {
      return usage_error("{}: '{}' must be a text", place_of(node), key);
    }
    out = *value;
    return {};
  }

  Status share(const toml::node& node, std::string_view key, double& out) {
    const auto value = node.value<double>();
    if (!value || !(*value > 0) || !(*value <= 1)) {
      return usage_error("{}: '{}' must be a number above 0 and up to 1", place_of(node), key);
    }
    out = *value;
    return {};
  }

  Status pattern(const toml::node& node, std::string_view key, std::optional<Pattern>& out,
                 Pattern::Groups groups = Pattern::Groups::forgotten) {
    std::string value;
    if (const Status taken = text(node, key, value); !taken) return taken;
    if (is_builtin_) {
      out = Pattern::builtin(value, groups);
      return {};
    }
    TRY_AS(compiled, Pattern::compile(place_of(node), value, groups));
    out = std::move(*compiled);
    return {};
  }

  Status texts(const toml::node& node, std::string_view key, std::vector<std::string>& out) {
    const toml::array* list = node.as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto value = list->get(i)->value<std::string>();
      if (value && !value->empty()) out.push_back(*value);
    }
    if (list == nullptr || list->empty() || out.size() != list->size()) {
      return usage_error("{}: '{}' must be a list of texts", place_of(node), key);
    }
    return {};
  }

  Status yes_or_no(const toml::node& node, std::string_view key, bool& out) {
    const auto value = node.value_exact<bool>();
    if (!value) return usage_error("{}: '{}' must be true or false", place_of(node), key);
    out = *value;
    return {};
  }

  Status engine(const toml::node& node) {
    constexpr Engine engines[] = {Engine::core,      Engine::hvx,          Engine::hmx,
                                  Engine::dma_issue, Engine::dma,          Engine::host,
                                  Engine::compute,   Engine::communication};
    const auto value = node.value<std::string>();
    const auto named = value ? value_named<Engine>(*value) : std::nullopt;
    if (!named || std::find(std::begin(engines), std::end(engines), *named) == std::end(engines)) {
      return usage_error(
          "{}: 'engine' must be one of: core, hvx, hmx, dma_issue, dma, host, compute, "
          "communication",
          place_of(node));
    }
    rule_.engine = *named;
    return {};
  }

  Status part(const toml::node& node) {
    const auto value = node.value<std::string>();
    if (value != "wait" && value != "transfer") {
      return usage_error("{}: 'part' must be one of: wait, transfer", place_of(node));
    }
    rule_.part = value == "wait" ? RoleRule::Part::wait : RoleRule::Part::transfer;
    return {};
  }

  Status role(const toml::node& node) {
    const auto value = node.value<std::string>();
    const auto kind = value ? value_named<SpanKind>(*value) : std::nullopt;
    if (!kind || std::find(std::begin(roles), std::end(roles), *kind) == std::end(roles)) {
      return usage_error("{}: 'role' must be one of: {}", place_of(node), names_of_roles());
    }
    rule_.role = *kind;
    return {};
  }

  const std::string& file_;
  bool is_builtin_;
  RoleRule rule_;
};

Result<std::vector<RoleRule>> rules_of(const toml::table& root, const std::string& name,
                                       bool is_builtin) {
  for (const auto& [key, node] : root) {
    if (key.str() == "rule" && node.is_array_of_tables()) continue;
    return usage_error("{}:{}: '{}' is not a rule; begin each with [[rule]]", name,
                       node.source().begin.line, key.str());
  }
  const toml::node* const found = root.get("rule");
  const toml::array* list = found != nullptr ? found->as_array() : nullptr;
  if (list == nullptr || list->empty()) {
    return usage_error("{}: has no rule; begin each with [[rule]]", name);
  }
  if (list->size() > max_rules) {
    return usage_error("{}: {} rules are more than {}; join some into one pattern with |", name,
                       list->size(), max_rules);
  }
  std::vector<RoleRule> rules;
  for (const toml::node& each : *list) {
    TRY_AS(rule, RuleReader(name, is_builtin).read(*each.as_table()));
    rules.push_back(std::move(*rule));
  }
  return rules;
}

}  // namespace

Result<RoleTable> RoleTable::parse(std::string_view text, const std::string& name) {
  toml::table root;
  try {
    root = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return usage_error("{}:{}: {}; correct the table of roles", name, error.source().begin.line,
                       error.description());
  }
  RoleTable table;
  TRY_AS(rules, rules_of(root, name, false));
  table.rules_ = std::move(*rules);
  return table;
}

const RoleTable& RoleTable::builtin() {
  static const RoleTable all = [] {
    RoleTable made;
    for (const EmbeddedToml& file : builtin_role_files) {
      auto rules = rules_of(file.table(), fmt::format("roles/{}.toml", file.name), true);
      if (!rules) continue;  // the tests parse each
      std::move(rules->begin(), rules->end(), std::back_inserter(made.rules_));
    }
    return made;
  }();
  return all;
}

}  // namespace npuscope
