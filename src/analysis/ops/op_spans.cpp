#include "analysis/ops/op_spans.hpp"

#include <algorithm>

#include "base/counting_sort.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {

OpSpansInGroups::OpSpansInGroups(const Analysis& analysis)
    : profile_(analysis.profile()),
      own_(analysis.self_times()),
      inferences_(analysis.inferences()),
      origin_(analysis.timeline_extent().begin) {
  const std::size_t ops = profile_.ops.size();
  sort(ops + 1, [&](std::size_t row) {
    return std::uint32_t(std::min<std::size_t>(index_of(profile_.spans.op[row]), ops));
  });
}

OpSpansInGroups::OpSpansInGroups(const Analysis& analysis,
                                 const std::vector<std::uint32_t>& group_of_unit,
                                 std::size_t groups)
    : profile_(analysis.profile()),
      own_(analysis.self_times()),
      inferences_(analysis.inferences()),
      origin_(analysis.timeline_extent().begin) {
  sort(groups, [&](std::size_t row) {
    const std::size_t unit = index_of(profile_.spans.unit[row]);
    return group_of_unit[std::min(unit, group_of_unit.size() - 1)];
  });
}

template <class GroupOf>
void OpSpansInGroups::sort(std::size_t groups, const GroupOf& group_of) {
  CountingSort by_group(profile_.spans.size(), groups, group_of);
  first_ = by_group.first();
  sorted_.resize(by_group.size());
  if (!own_.are_whole()) kept_own_.resize(by_group.size());
  by_group.place([&](std::size_t row, std::uint32_t place) { keep(row, place); });
}

// Into their place, member by member: a copy would wait for them.
inline void OpSpansInGroups::keep(std::size_t row, std::uint32_t place) {
  const auto fitting = [](std::uint64_t ticks) {
    return std::uint32_t(std::min<std::uint64_t>(ticks, KeptOpSpan::does_not_fit));
  };
  const Spans& spans = profile_.spans;
  KeptOpSpan& into = sorted_[place];
  into.begin = fitting(std::uint64_t(spans.start[row]) - std::uint64_t(origin_));
  into.length = fitting(std::uint64_t(length_of(interval_of(spans, row))));
  into.row = std::uint32_t(row);
  into.op = spans.op[row];
  into.unit = spans.unit[row];
  into.inference_and_kind =
      std::min(inferences_.of(row), KeptOpSpan::no_inference) << 8 | std::uint32_t(spans.kind[row]);
  if (!kept_own_.empty()) kept_own_[place] = fitting(std::uint64_t(own_[row]));
}

}  // namespace npuscope::analysis
