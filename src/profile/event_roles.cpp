#include "npuscope/profile/event_roles.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>

#include "base/toml_reader.hpp"
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

constexpr Engine rule_engines[] = {Engine::core,      Engine::hvx,          Engine::hmx,
                                   Engine::dma_issue, Engine::dma,          Engine::host,
                                   Engine::compute,   Engine::communication};
using Part = RoleRule::Part;
constexpr std::pair<std::string_view, Part> part_words[] = {{"wait", Part::wait},
                                                            {"transfer", Part::transfer}};

template <class Value, std::size_t Count>
std::array<std::pair<std::string_view, Value>, Count> words_of(const Value (&values)[Count]) {
  std::array<std::pair<std::string_view, Value>, Count> words;
  for (std::size_t i = 0; i < Count; ++i) words[i] = {stable_name(values[i]), values[i]};
  return words;
}

void check(TomlReader& in, const RoleRule& rule) {
  if (!rule.category && !rule.name && !rule.asks_for_row()) {
    in.fail({}, "the rule fits every slice; give it category, name, process, thread or arguments");
  }
  if (!rule.counter.empty() && rule.role != SpanKind::instant) {
    in.fail({}, "'counter' needs role = \"instant\"");
  }
  const bool is_of_steps = !rule.number.empty() || rule.if_repeated > 0;
  if (is_of_steps && rule.role != SpanKind::inference) {
    in.fail({}, "'number' and 'if_repeated' need role = \"inference\"");
  }
  if (rule.bytes.empty() != (!rule.to_device && !rule.from_device)) {
    in.fail({}, "'bytes' needs 'to_device' or 'from_device', and these need 'bytes'");
  }
  if (rule.operation && !in.is_builtin() && !rule.operation->has_group()) {
    in.fail({}, "'operator' needs a group, as in '_t_(\\w+)'");
  }
  if (rule.engine != Engine::none && !rule.thread) in.fail({}, "'engine' needs 'thread'");
  if (rule.part != Part::none && rule.role != SpanKind::annotation) {
    in.fail({}, "'part' needs role = \"annotation\"");
  }
}

RoleRule read_rule(TomlReader& in) {
  static const auto role_words = words_of(roles);
  static const auto engine_words = words_of(rule_engines);
  RoleRule rule;
  in.pattern("category", rule.category);
  in.pattern("name", rule.name);
  in.pattern("process", rule.process);
  in.pattern("thread", rule.thread);
  in.texts("arguments", rule.arguments);
  in.word("role", role_words, rule.role, Needed::yes);
  in.text("bytes", rule.bytes);
  in.text("direction", rule.direction);
  in.pattern("to_device", rule.to_device);
  in.pattern("from_device", rule.from_device);
  in.texts("signals", rule.signals);
  in.texts("waits_for", rule.waits_for);
  in.text("counter", rule.counter);
  in.texts("series", rule.series);
  in.text("quantity", rule.quantity);
  in.pattern("within", rule.within);
  in.pattern("unless_thread", rule.unless_thread);
  in.yes_or_no("in_order", rule.in_order);
  in.text("number", rule.number);
  in.number("if_repeated", rule.if_repeated, 0, 1);
  in.word("part", part_words, rule.part);
  in.pattern("operator", rule.operation, Pattern::Groups::kept);
  in.word("engine", engine_words, rule.engine);
  check(in, rule);
  return rule;
}

Result<std::vector<RoleRule>> rules_of(const toml::table& root, const TomlFile& file) {
  TomlReader in(root, file);
  std::vector<RoleRule> rules;
  in.tables(
      "rule", [&](TomlReader& each) { rules.push_back(read_rule(each)); }, Needed::yes, max_rules);
  TRY(in.finish());
  return rules;
}

}  // namespace

Result<RoleTable> RoleTable::parse(std::string_view text, const std::string& name) {
  TRY_AS(root, parse_toml(text, name, ErrorKind::usage));
  TRY_AS(rules, rules_of(*root, {name}));
  RoleTable table;
  table.rules_ = std::move(*rules);
  return table;
}

const RoleTable& RoleTable::builtin() {
  static const RoleTable all = [] {
    RoleTable made;
    for (const EmbeddedToml& file : builtin_role_files) {
      auto rules =
          rules_of(file.table(), {fmt::format("roles/{}.toml", file.name), ErrorKind::usage, true});
      if (!rules) continue;  // the tests parse each
      std::move(rules->begin(), rules->end(), std::back_inserter(made.rules_));
    }
    return made;
  }();
  return all;
}

}  // namespace npuscope
