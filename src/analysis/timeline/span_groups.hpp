// Numbers for the groups that the spans of a profile fall into: units, engines, stages, nodes,
// kinds or ops.
//
//   const SpanGroups groups(profile, RowsBy::node);
//   groups.of(row)              // 3
//   groups.label(3)             // "MatMul_0"
//
// Groups are numbered in the order of the profile's units, engines or ops. Made in one pass over
// the ops; of() is a look-up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline/span_engines.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/timeline_rows.hpp"

namespace npuscope::analysis {

class SpanGroups {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  SpanGroups(const Profile& profile, RowsBy by);

  std::uint32_t of(std::size_t row) const {
    const Spans& spans = profile_.spans;
    return of(spans.op[row], spans.unit[row], spans.kind[row]);
  }
  // The same of a span of SpansByUnit, which has what is asked for next to it.
  std::uint32_t of(UnitId unit, const SpanOfUnit& span) const {
    return of(span.op, unit, span.kind);
  }
  std::size_t count() const { return count_; }
  std::string label(std::uint32_t group) const;

 private:
  std::uint32_t of(OpId op, UnitId unit, SpanKind kind) const {
    if (by_ == RowsBy::unit) {
      const auto group = std::uint32_t(std::min<std::size_t>(index_of(unit), count_ - 1));
      return group < drawn_with_.size() ? drawn_with_[group] : group;
    }
    if (by_ == RowsBy::engine) {
      return std::uint32_t(engines_.of(op, unit, kind));
    }
    return of_op_[std::min<std::size_t>(index_of(op), of_op_.size() - 1)];
  }
  void group_ops();

  const Profile& profile_;
  RowsBy by_;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> of_op_;  // one more for spans without
  std::vector<std::string_view> texts_;
  std::vector<std::uint32_t> drawn_with_;  // units, of tracks that are drawn as one
  SpanEngines engines_;
};

}  // namespace npuscope::analysis
