#include <algorithm>

#include "npuscope/analysis/match_ops.hpp"

namespace npuscope::analysis {

OpGroups::OpGroups(const Profile& profile) {
  if (profile.numbers) {
    groups_ = profile.numbers->groups;
    after_ = profile.numbers->after;
    before_.resize(groups_.size());
    for (std::uint32_t group = 0; group < after_.size(); ++group) {
      for (const std::uint32_t next : after_[group]) before_[next].push_back(group);
    }
    return;
  }
  std::unordered_map<std::uint64_t, std::uint32_t> group_of;
  of_op_.reserve(profile.ops.size());
  for (const Op& op : profile.ops) {
    const StringId label = op.label();
    const std::uint64_t key = std::uint64_t{index_of(label)} << 32 | index_of(op.kind);
    const auto [place, is_new] = group_of.try_emplace(key, std::uint32_t(groups_.size()));
    if (is_new) groups_.push_back({profile.text(label), profile.text(op.kind), {}, 0});
    OpGroup& group = groups_[place->second];
    if (group.shape.empty()) group.shape = profile.text(op.shape);
    group.ops += 1;
    of_op_.push_back(place->second);
  }
  groups_.emplace_back();
  connect(profile);
}

void OpGroups::connect(const Profile& profile) {
  before_.resize(groups_.size());
  after_.resize(groups_.size());
  const auto join = [&](OpId from, OpId to) {
    if (index_of(from) >= of_op_.size() || index_of(to) >= of_op_.size()) return;
    if (of(from) == of(to)) return;
    after_[of(from)].push_back(of(to));
    before_[of(to)].push_back(of(from));
  };
  for (const Edge& edge : profile.edges) {
    if (edge.kind == EdgeKind::data || edge.kind == EdgeKind::transfer) join(edge.from, edge.to);
  }
  for (const TensorUse& use : profile.tensor_uses) {
    if (use.tensor >= profile.tensors.size()) continue;
    join(profile.tensors[use.tensor].producer, use.consumer);
  }
  for (auto* side : {&before_, &after_}) {
    for (std::vector<std::uint32_t>& neighbours : *side) {
      std::sort(neighbours.begin(), neighbours.end());
      neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
    }
  }
}

}  // namespace npuscope::analysis
