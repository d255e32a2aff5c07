// Which rule of roles each span obeys: rules are sorted out by what a trace has, then by op, so
// that a row costs a look at its op and, where the rules ask for it, at its unit and arguments.
//
//   const RoleFinder finder(profile, rules);
//   const RoleRule* rule = finder.of(row);   // null: none
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "npuscope/profile/event_roles.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

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

}  // namespace npuscope
