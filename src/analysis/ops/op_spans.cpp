#include "analysis/ops/op_spans.hpp"

#include <algorithm>

#include "base/counting_sort.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis {

OpSpansInGroups::OpSpansInGroups(const Analysis& analysis)
    : profile_(analysis.profile()),
      own_(analysis.self_times()),
      inferences_(analysis.inferences()) {
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
      inferences_(analysis.inferences()) {
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
  by_group.place([&](std::size_t row, std::uint32_t place) { keep(row, sorted_[place]); });
}

// Into their place, member by member: a copy would wait for them.
inline void OpSpansInGroups::keep(std::size_t row, KeptOpSpan& into) const {
  const auto fitting = [](std::int64_t ticks) {
    const bool fits = ticks >= 0 && ticks < std::int64_t{KeptOpSpan::does_not_fit};
    return fits ? std::uint32_t(ticks) : KeptOpSpan::does_not_fit;
  };
  const Spans& spans = profile_.spans;
  into.begin = spans.start[row];
  into.length = fitting(length_of(interval_of(spans, row)));
  into.own = fitting(own_[row]);
  into.row = std::uint32_t(row);
  into.op = spans.op[row];
  into.unit = spans.unit[row];
  into.inference_and_kind =
      std::min(inferences_.of(row), KeptOpSpan::no_inference) << 8 | std::uint32_t(spans.kind[row]);
}

}  // namespace npuscope::analysis
