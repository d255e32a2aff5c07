#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "npuscope/profile/profile.hpp"
#include "profile/communication_waits.hpp"
#include "profile/in_order.hpp"
#include "profile/number_steps.hpp"
#include "profile/role_details.hpp"

namespace npuscope {

namespace {

// Which rule of roles each span obeys: rules are sorted out by what a trace has, then by op, so
// that a row costs a look at its op and, where the rules ask for it, at its unit and arguments.
//
//   const RoleFinder finder(profile, rules);
//   const RoleRule* rule = finder.of(row);   // null: none
using RuleList = std::vector<const RoleRule*>;

class RoleFinder {
 public:
  // The profile must live as long; the first rule that fits decides.
  RoleFinder(const Profile& profile, RuleList rules);

  bool any() const { return any_; }

  // Of tracks of which the trace says no more than a name.
  void name_engines(Profile& profile) const;

  // The rules that may decide of an op.
  template <class Take>
  void for_rules_of(std::size_t op, const Take& take) const {
    for (const AskingRule& asking : of_op_[op].asking) take(*asking.rule);
    if (of_op_[op].rule != nullptr) take(*of_op_[op].rule);
  }

  const RoleRule* of(std::size_t row) const {
    const std::size_t op = index_of(profile_.spans.op[row]);
    if (op >= of_op_.size()) return nullptr;
    const OpRules& rules = of_op_[op];
    if (rules.asking.empty()) return rules.rule;
    const UnitId unit = profile_.spans.unit[row];
    const Arguments& arguments = profile_.spans.arguments;
    constexpr std::uint32_t none = ~std::uint32_t{0};  // it has not been asked for, or has none
    std::uint32_t shape = none;
    for (const AskingRule& asking : rules.asking) {
      if (!is_at(asking, unit)) continue;
      if (asking.shapes == nullptr) return asking.rule;
      if (shape == none && row < arguments.size()) shape = arguments.shape(row);
      if (shape != none && (*asking.shapes)[shape]) return asking.rule;
    }
    return rules.rule;
  }

 private:
  // A rule that asks for place or arguments, with the units and sorts of argument lists that fit
  // it; none: all do.
  struct AskingRule {
    const RoleRule* rule = nullptr;
    const std::vector<bool>* units = nullptr;
    const std::vector<bool>* shapes = nullptr;
  };
  // What is known of an op before it is known where it ran.
  struct OpRules {
    // The first rule that decides by category and name, after those that ask for place or
    // arguments.
    const RoleRule* rule = nullptr;
    std::vector<AskingRule> asking;  // before it
  };

  static bool is_at(const AskingRule& asking, UnitId unit) {
    if (asking.units == nullptr) return true;
    return index_of(unit) < asking.units->size() && (*asking.units)[index_of(unit)];
  }
  void find_places();
  OpRules rules_of(const Op& op);
  const RuleList& rules_of_category(StringId category);
  bool has_slices_on(const Pattern& name) const;
  std::vector<bool> units_of(const RoleRule& rule) const;
  std::vector<bool> shapes_of(const RoleRule& rule) const;

  const Profile& profile_;
  RuleList rules_;
  std::vector<OpRules> of_op_;
  std::unordered_map<StringId, RuleList> of_category_;
  std::unordered_map<const RoleRule*, std::vector<bool>> places_, shapes_;
  bool any_ = false;
};

bool fits(const std::optional<Pattern>& pattern, std::string_view text) {
  return !pattern || pattern->found_in(text);
}

RoleFinder::RoleFinder(const Profile& profile, RuleList rules)
    : profile_(profile), rules_(std::move(rules)) {
  find_places();
  of_op_.resize(profile.ops.size());
  for (std::size_t op = 0; op < of_op_.size(); ++op) {
    of_op_[op] = rules_of(profile.ops[op]);
    any_ = any_ || of_op_[op].rule != nullptr || !of_op_[op].asking.empty();
  }
}

void RoleFinder::name_engines(Profile& profile) const {
  for (const RoleRule* rule : rules_) {
    if (rule->engine == Engine::none) continue;
    const std::vector<bool>& at = places_.at(rule);
    for (std::size_t unit = 0; unit < at.size(); ++unit) {
      Engine& engine = profile.units[unit].engine;
      const bool is_open = engine == Engine::none || engine == Engine::other ||
                           engine == Engine::thread || engine == Engine::process;
      if (at[unit] && is_open) engine = rule->engine;
    }
  }
}

// Which units and arguments fit the rules that ask for them; a rule that none fits is another
// tool's.
void RoleFinder::find_places() {
  std::erase_if(rules_, [&](const RoleRule* rule) {
    if (rule->unless_thread && has_slices_on(*rule->unless_thread)) return true;
    if (!rule->arguments.empty() || !rule->number.empty()) {
      std::vector<bool> having = shapes_of(*rule);
      if (std::find(having.begin(), having.end(), true) == having.end()) return true;
      shapes_.emplace(rule, std::move(having));
    }
    if (!rule->asks_where()) return false;
    std::vector<bool> at = units_of(*rule);
    if (std::find(at.begin(), at.end(), true) == at.end()) return true;
    places_.emplace(rule, std::move(at));
    return false;
  });
}

RoleFinder::OpRules RoleFinder::rules_of(const Op& op) {
  OpRules found;
  for (const RoleRule* rule : rules_of_category(op.kind)) {
    if (!fits(rule->name, profile_.text(op.name))) continue;
    if (!rule->asks_for_row()) {
      found.rule = rule;
      break;
    }
    const auto place = places_.find(rule), shape = shapes_.find(rule);
    found.asking.push_back({rule, place != places_.end() ? &place->second : nullptr,
                            shape != shapes_.end() ? &shape->second : nullptr});
  }
  return found;
}

// Of few distinct categories.
const RuleList& RoleFinder::rules_of_category(StringId category) {
  const auto [known, is_new] = of_category_.try_emplace(category);
  for (const RoleRule* rule : rules_) {
    if (is_new && fits(rule->category, profile_.text(category))) known->second.push_back(rule);
  }
  return known->second;
}

bool RoleFinder::has_slices_on(const Pattern& name) const {
  std::vector<bool> matches;
  for (const Unit& unit : profile_.units) {
    matches.push_back(name.found_in(profile_.text(unit.name)));
  }
  if (std::find(matches.begin(), matches.end(), true) == matches.end()) return false;
  const auto& unit_of = profile_.spans.unit;
  return std::any_of(unit_of.begin(), unit_of.end(), [&](UnitId unit) {
    return index_of(unit) < matches.size() && matches[index_of(unit)];
  });
}

std::vector<bool> RoleFinder::units_of(const RoleRule& rule) const {
  std::vector<bool> at(profile_.units.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Unit* thread = &profile_.units[i];
    if (thread->lane > 0 && index_of(thread->parent) < at.size()) {
      thread = &profile_.units[index_of(thread->parent)];  // its first lane has the name
    }
    const Unit* process = thread;
    for (int depth = 0; depth < 16 && index_of(process->parent) < at.size(); ++depth) {
      process = &profile_.units[index_of(process->parent)];
    }
    at[i] = fits(rule.process, profile_.text(process->name)) &&
            fits(rule.thread, profile_.text(thread->name));
  }
  return at;
}

// Which sorts of argument lists have all that the rule asks for.
std::vector<bool> RoleFinder::shapes_of(const RoleRule& rule) const {
  const std::vector<ArgumentShape>& shapes = profile_.spans.arguments.shapes;
  std::vector<bool> having(shapes.size(), true);
  std::vector<std::string> names = rule.arguments;
  if (!rule.number.empty()) names.push_back(rule.number);
  for (const std::string& name : names) {
    const auto id = profile_.strings.find(name);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      having[i] = having[i] && id &&
                  std::any_of(shapes[i].begin(), shapes[i].end(),
                              [&](auto& key) { return key.name == *id; });
    }
  }
  return having;
}

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
