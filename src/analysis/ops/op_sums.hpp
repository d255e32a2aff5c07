// The columns of an op table that come from spans, summed for one row of it.
//
//   const OpSums sums(profile, own, beside, keys, inferences);
//   sums.columns()[1].name       // "work"
//   const RowSums row = sums.of(group);
//   row.value(column)            // sum, or the median of the inferences after the first
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/inference_times.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_runs.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::analysis {

// A span of a row with what columns and details ask of it. The profile has these as many columns
// apart, and the spans of a row far from one another: gathered once, all questions have them close.
struct OpSpan {  // without values at first, for the sake of Column
  std::int64_t begin, end;
  std::int64_t own;   // its self time
  std::uint32_t row;  // in the profile
  OpId op;
  UnitId unit;
  std::uint32_t inference;  // its place among Inferences
  SpanKind kind;

  Interval interval() const { return {begin, end}; }
};
using OpSpans = std::span<const OpSpan>;

// What each column sums to in each inference in which the row ran.
struct RowSums {
  std::vector<std::uint32_t> inferences;  // of each slot
  std::vector<double> sums;               // slots x columns
  std::vector<bool> known;                // by column
};

class OpSums {
 public:
  OpSums(const Profile& profile, const std::vector<std::int64_t>& own, const IssuesBeside& issues,
         const OpKeys& keys, const Inferences& inferences, bool per_inference);

  const std::vector<OpColumn>& columns() const { return columns_; }
  std::uint64_t columns_left() const { return columns_left_; }

  // The spans of a row, in the profile's order.
  OpSpans spans(std::uint32_t group) const {
    return OpSpans(sorted_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  // What of its self time is work: all but what runs next to a transfer of the same op.
  std::int64_t work_of(const OpSpan& span) const { return span.own - issues_.of(span.row); }

  // Hands all spans of the row, some at a time, to `also` as well.
  RowSums of(std::uint32_t group, const std::function<void(OpSpans)>& also = {}) const;
  double value(const RowSums& row, std::size_t column) const;
  OverInferences over_inferences(const RowSums& row, std::size_t column) const;

 private:
  enum class What : std::uint8_t { measure, work, issue, waiting, async, active, span };
  struct Source {
    What what;
    const MeasureColumn* measure = nullptr;
  };

  void sort_spans(const std::vector<std::int64_t>& own);
  void find_columns();
  void add(OpColumn column, Source source);
  class Adding;

  std::optional<std::size_t> place_of(What what) const;

  const Profile& profile_;
  const IssuesBeside& issues_;
  const OpKeys& keys_;
  const Inferences& inferences_;
  bool per_inference_;
  std::vector<OpColumn> columns_;
  std::vector<Source> sources_;
  std::uint64_t columns_left_ = 0;
  std::vector<std::uint32_t> first_;  // of each group in sorted_; one more
  Column<OpSpan> sorted_;
};

}  // namespace npuscope::analysis
