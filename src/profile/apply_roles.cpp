#include <utility>

#include "base/parallel.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "profile/communication_waits.hpp"
#include "profile/in_order.hpp"
#include "profile/number_steps.hpp"
#include "profile/role_details.hpp"
#include "profile/role_finder.hpp"

namespace npuscope {
namespace {

bool says_more(const RoleRule& rule) {
  return !rule.bytes.empty() || !rule.signals.empty() || !rule.waits_for.empty() || rule.within ||
         !rule.counter.empty() || rule.part != RoleRule::Part::none ||
         rule.role == SpanKind::inference;
}

std::vector<Detailed> give_kinds(const RoleFinder& finder, Profile& profile) {
  Spans& spans = profile.spans;
  const std::vector<RowRange> parts = ranges_of(spans.size());
  std::vector<std::vector<Detailed>> detailed(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    const RoleRule* last = nullptr;  // mostly that of the next row
    bool last_says_more = false;
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      const RoleRule* rule = finder.of(row);
      if (rule != last && rule != nullptr) last_says_more = says_more(*rule);
      last = rule;
      const bool was_known = spans.kind[row] != SpanKind::slice;
      if (rule == nullptr || (was_known && spans.kind[row] != rule->role)) continue;
      spans.kind[row] = rule->role;
      if (last_says_more) detailed[part].push_back({std::uint32_t(row), rule, was_known});
    }
  });
  std::vector<Detailed> all;
  for (const auto& of_part : detailed) all.insert(all.end(), of_part.begin(), of_part.end());
  return all;
}

// What the model calls an op, where its name says so.
void name_operators(const RoleFinder& finder, Profile& profile) {
  for (std::size_t op = 0; op < profile.ops.size(); ++op) {
    if (profile.ops[op].node_kind != StringId::empty) continue;
    std::string operation;  // a copy: interning may move texts
    finder.for_rules_of(op, [&](const RoleRule& rule) {
      if (!rule.operation || !operation.empty()) return;
      operation = rule.operation->group_in(profile.text(profile.ops[op].name));
    });
    if (!operation.empty()) profile.ops[op].node_kind = profile.strings.intern(operation);
  }
}

void add_parts_of_communication(const std::vector<Detailed>& detailed, Profile& profile) {
  std::vector<CommunicationPart> parts;
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->part == RoleRule::Part::none || was_known) continue;
    parts.push_back({row, rule->part == RoleRule::Part::wait});
  }
  add_communication_waits(profile, parts);
}

void add_steps(const std::vector<Detailed>& detailed, Profile& profile) {
  std::vector<StepCandidate> candidates;
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->role == SpanKind::inference && !was_known) candidates.push_back({row, rule});
  }
  number_steps(profile, std::move(candidates));
}

}  // namespace

void apply_roles(Profile& profile, std::span<const RoleTable> tables) {
  RuleList rules;
  const auto take = [&](const RoleTable& table) {
    for (const RoleRule& rule : table.rules()) rules.push_back(&rule);
  };
  for (const RoleTable& table : tables) take(table);
  take(RoleTable::builtin());
  const RoleFinder finder(profile, std::move(rules));
  if (!finder.any()) return;
  finder.name_engines(profile);
  name_operators(finder, profile);
  const std::vector<Detailed> detailed = give_kinds(finder, profile);
  cut_in_order(profile, [&](std::size_t row) {
    const RoleRule* rule = finder.of(row);
    return rule != nullptr && rule->in_order && rule->role == profile.spans.kind[row];
  });
  if (detailed.empty()) return;
  add_details(detailed, profile);
  add_parts_of_communication(detailed, profile);
  add_steps(detailed, profile);
}

}  // namespace npuscope
