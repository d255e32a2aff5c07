// The columns of an op table that come from spans, summed for one row of it.
//
//   const OpSums sums(analysis, keys, options, OpSpanBegins::kept);
//   sums.columns()[1].name       // "work"
//   const RowSums row = sums.of(group);
//   row.value(column)            // sum, or the median of the inferences after the first
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analysis/inference_times.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_spans.hpp"
#include "analysis/ops/op_times.hpp"
#include "base/per_thread.hpp"

namespace npuscope::analysis {

using OpSpans = std::span<const OpSpan>;

// What each column sums to in each inference in which the row ran.
struct RowSums {
  std::vector<std::uint32_t> inferences;  // of each slot
  std::vector<double> sums;               // slots x columns
  std::vector<bool> known;                // by column
};

class OpSums {
 public:
  // Begins are kept for who asks spans() for intervals.
  OpSums(const Analysis& analysis, const OpKeys& keys, const OpOptions& options,
         OpSpanBegins begins);

  const std::vector<OpColumn>& columns() const { return columns_; }
  std::uint64_t columns_left() const { return columns_left_; }

  // Hands on the spans of a row: op after op, those of each in the profile's order; where rows are
  // units, all at once.
  template <class Take>  // of a std::span<const KeptOpSpan>
  void for_spans(std::uint32_t group, const Take& take) const;
  const OpSpansInGroups& spans() const { return keys_.of_units() ? *by_units_ : *by_op_; }
  // Whether any span of the profile was compiled into kernels (is_compiled), whichever row has it.
  bool any_compiled() const { return any_compiled_; }
  // What of its self time is work: all but what runs next to a transfer of the same op.
  std::int64_t work_of(const OpSpan& span) const { return span.own - issues_.of(span.row); }

  // Hands all spans of the row, some at a time, to `also` as well, with their slots.
  RowSums of(std::uint32_t group, const std::function<void(OpSpans)>& also = {}) const;
  double value(const RowSums& row, std::size_t column) const;
  // An earlier column that has the same in each inference, or the column itself: of an op that runs
  // on one unit, active is work.
  std::size_t like_earlier(const RowSums& row, std::size_t column) const;
  OverInferences over_inferences(const RowSums& row, std::size_t column) const;

 private:
  enum class What : std::uint8_t { measure, work, issue, waiting, async, active, span };
  static constexpr std::size_t what_count = std::size_t(What::span) + 1;
  struct Source {
    What what;
    const MeasureColumn* measure = nullptr;
  };

  // Of a thread, whose next row needs as much memory again.
  struct OfThread {
    std::vector<std::uint32_t> slot_of;        // by inference; no_slot between two rows
    std::vector<std::uint32_t> slots_of_runs;  // these are empty between two rows
    std::vector<Interval> extents;             // by slot
    std::vector<Interval> runs;
    std::vector<std::size_t> first;  // run of each slot, one more
    std::vector<Interval> other;
  };

  void sort_ops();
  void find_columns(const OpOptions& options);
  void add(OpColumn column, Source source);
  class Adding;

  const Profile& profile_;
  const Column<std::int64_t>& own_;
  const IssuesBeside& issues_;
  const OpKeys& keys_;
  const Inferences& inferences_;
  bool per_inference_;
  std::vector<OpColumn> columns_;
  std::vector<Source> sources_;
  std::uint64_t columns_left_ = 0;
  bool any_compiled_ = false;
  std::shared_ptr<const OpSpansInGroups> by_op_;
  std::vector<std::uint32_t> first_, ops_;  // of each group in ops_, one more; by group
  std::optional<OpSpansInGroups> by_units_;
  mutable PerThread<OfThread> of_thread_;
};

template <class Take>
void OpSums::for_spans(std::uint32_t group, const Take& take) const {
  if (keys_.of_units()) {
    take(by_units_->of(group));
    return;
  }
  for (std::uint32_t at = first_[group]; at < first_[group + 1]; ++at) {
    if (const auto spans = by_op_->of(ops_[at]); !spans.empty()) take(spans);
  }
}

}  // namespace npuscope::analysis
