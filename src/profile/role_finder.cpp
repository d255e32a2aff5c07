#include "profile/role_finder.hpp"

#include <algorithm>
#include <utility>

namespace npuscope {
namespace {

bool fits(const std::optional<Pattern>& pattern, std::string_view text) {
  return !pattern || pattern->found_in(text);
}

}  // namespace

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

}  // namespace npuscope
