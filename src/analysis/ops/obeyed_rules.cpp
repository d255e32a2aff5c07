// Which rule each op obeys: all patterns are looked for in each of its texts at once.
#include <algorithm>
#include <unordered_map>

#include "base/parallel.hpp"
#include "base/pattern_set.hpp"
#include "npuscope/analysis/rules.hpp"

namespace npuscope::analysis {

RuledOps::RuledOps(const Profile& profile) : profile_(profile) {
  for (const Unit& unit : profile.units) {
    if (unit.name != StringId::empty) unit_names_.insert(unit.name);
  }
}

RuledOp RuledOps::of(const Op& op) const {
  return {profile_.text(op.node), profile_.text(op.name), profile_.text(op.kind),
          profile_.text(op.node_kind), unit_names_.contains(op.kind)};
}

// Of one op after another, on one thread.
class Rules::Search {
 public:
  explicit Search(const Rules& rules) : rules_(rules) {
    for (const Condition& condition : rules.conditions_) {
      looked_at_by_.push_back(texts_of(condition.place));
      looked_at_ |= looked_at_by_.back();
    }
  }

  std::uint32_t of(const RuledOp& op) {
    const std::string_view label = op.node.empty() ? op.name : op.node;
    // A name tells what an op does only where nothing else says so.
    const std::string_view last_part =
        op.node_kind.empty() ? label.substr(label.rfind('/') + 1) : std::string_view();
    Searched texts[] = {{op.node, text_node},
                        {label, text_label},
                        {op.name, text_name},
                        {last_part, text_last_part},
                        {op.kind, op.kind_is_unit ? text_unit : text_kind},
                        {op.node_kind, text_node_kind}};
    obeyed_.clear();
    for (auto each = std::begin(texts); each != std::end(texts); ++each) {
      const auto same = std::find_if(each + 1, std::end(texts), [&](const Searched& later) {
        return later.text.data() == each->text.data() && later.text.size() == each->text.size();
      });
      if (same != std::end(texts)) {
        same->roles |= each->roles;
      } else if ((each->roles & looked_at_) != 0) {
        search(*each);
      }
    }
    std::sort(obeyed_.begin(), obeyed_.end());
    obeyed_.erase(std::unique(obeyed_.begin(), obeyed_.end()), obeyed_.end());
    return first_rule();
  }

 private:
  enum : std::uint32_t {
    text_node = 1,
    text_label = 2,
    text_name = 4,
    text_last_part = 8,
    text_kind = 16,
    text_node_kind = 32,
    text_unit = 64  // a kind that is a unit's name
  };
  struct Searched {
    std::string_view text;
    std::uint32_t roles;
  };

  static std::uint32_t texts_of(Place place) {
    switch (place) {
      case Place::node: return text_label;
      case Place::op: return text_name;
      case Place::kind: return text_kind | text_unit;
      case Place::does: return text_node_kind | text_kind | text_last_part;
      case Place::any: return text_node | text_name | text_kind | text_unit | text_node_kind;
    }
    return 0;
  }

  void search(const Searched& each) {
    if ((each.roles & (text_kind | text_unit | text_node_kind)) == 0) {
      rules_.patterns_->find(each.text, found_);
      return obey(found_, each.roles);
    }
    const auto [place, is_new] = found_in_kinds_.try_emplace(each.text);
    if (is_new) rules_.patterns_->find(each.text, place->second);
    obey(place->second, each.roles);
  }

  void obey(const std::vector<int>& found, std::uint32_t roles) {
    for (const int condition : found) {
      if ((looked_at_by_[std::size_t(condition)] & roles) != 0) {
        obeyed_.push_back(std::uint32_t(condition));
      }
    }
  }

  // Whose conditions are all among those that are obeyed.
  std::uint32_t first_rule() const {
    for (std::size_t i = 0; i < obeyed_.size(); ++i) {
      const std::uint32_t at = rules_.conditions_[obeyed_[i]].rule;
      const Rule& rule = rules_.rules_[at];
      const std::size_t last = i + rule.conditions - 1;
      if (obeyed_[i] == rule.first_condition && last < obeyed_.size() &&
          obeyed_[last] == rule.first_condition + rule.conditions - 1) {
        return at;
      }
    }
    return std::uint32_t(rules_.size());
  }

  const Rules& rules_;
  std::vector<std::uint32_t> looked_at_by_;  // by condition, the roles of texts
  std::uint32_t looked_at_ = 0;
  std::unordered_map<std::string_view, std::vector<int>> found_in_kinds_;  // of which there are few
  std::vector<int> found_;
  std::vector<std::uint32_t> obeyed_;  // conditions
};

std::vector<std::uint32_t> Rules::of(std::span<const RuledOp> ops) const {
  std::vector<std::uint32_t> rule_of(ops.size(), std::uint32_t(size()));
  if (rules_.empty()) return rule_of;
  constexpr std::size_t chunk = 1'024;
  parallel_for((ops.size() + chunk - 1) / chunk, [&](std::size_t part) {
    Search search(*this);
    const std::size_t end = std::min(ops.size(), (part + 1) * chunk);
    for (std::size_t i = part * chunk; i < end; ++i) rule_of[i] = search.of(ops[i]);
  });
  return rule_of;
}

std::vector<std::uint32_t> Rules::of(const Profile& profile) const {
  std::vector<RuledOp> ops;
  ops.reserve(profile.ops.size());
  const RuledOps texts(profile);
  for (const Op& op : profile.ops) ops.push_back(texts.of(op));
  return of(ops);
}

}  // namespace npuscope::analysis
