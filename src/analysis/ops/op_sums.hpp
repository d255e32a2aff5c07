// The columns of an op table that come from spans, summed for one row of it.
//
//   const OpSums sums(analysis, keys, false);
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
#include "base/per_thread.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::analysis {

// A span of a row with what columns and details ask of it. The profile has these as many columns
// apart, and the spans of a row far from one another: gathered once, all questions have them close.
struct OpSpan {
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

// The same as it is kept, as small as may be: millions of them are written and read once. What does
// not fit, as a span of more than 2^32 ticks, is looked up in the profile.
struct KeptOpSpan {  // without values at first, for the sake of Column
  static constexpr std::uint32_t does_not_fit = ~std::uint32_t{0};
  static constexpr std::uint32_t no_inference = (std::uint32_t{1} << 24) - 1;

  std::int64_t begin;
  std::uint32_t length, own;
  std::uint32_t row;
  OpId op;
  UnitId unit;
  std::uint32_t inference_and_kind;  // the latter in the low 8 bits

  std::uint32_t inference() const {
    const std::uint32_t number = inference_and_kind >> 8;
    return number == no_inference ? Inferences::none : number;
  }
  SpanKind kind() const { return SpanKind(inference_and_kind & 0xff); }
};

// What each column sums to in each inference in which the row ran.
struct RowSums {
  std::vector<std::uint32_t> inferences;  // of each slot
  std::vector<double> sums;               // slots x columns
  std::vector<bool> known;                // by column
};

class OpSums {
 public:
  OpSums(const Analysis& analysis, const OpKeys& keys, bool per_inference);

  const std::vector<OpColumn>& columns() const { return columns_; }
  std::uint64_t columns_left() const { return columns_left_; }

  // The spans of a row, in the profile's order.
  std::span<const KeptOpSpan> spans(std::uint32_t group) const {
    return std::span(sorted_).subspan(first_[group], first_[group + 1] - first_[group]);
  }
  void unpack(const KeptOpSpan& kept, OpSpan& into) const;
  // What of its self time is work: all but what runs next to a transfer of the same op.
  std::int64_t work_of(const OpSpan& span) const { return span.own - issues_.of(span.row); }

  // Hands all spans of the row, some at a time, to `also` as well.
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
    std::vector<std::uint32_t> slots_of_runs;  // these two are empty between two rows
    std::vector<Interval> runs;
    std::vector<std::size_t> first;  // run of each slot, one more
    std::vector<Interval> other;
  };

  void sort_spans();
  void keep(std::size_t row, KeptOpSpan& into) const;
  void find_columns();
  void add(OpColumn column, Source source);
  class Adding;

  const Profile& profile_;
  const std::vector<std::int64_t>& own_;
  const IssuesBeside& issues_;
  const OpKeys& keys_;
  const Inferences& inferences_;
  bool per_inference_;
  std::vector<OpColumn> columns_;
  std::vector<Source> sources_;
  std::uint64_t columns_left_ = 0;
  std::vector<std::uint32_t> first_;  // of each group in sorted_; one more
  Column<KeptOpSpan> sorted_;
  mutable PerThread<OfThread> of_thread_;
};

// Into their place, member by member: a copy would wait for them.
inline void OpSums::keep(std::size_t row, KeptOpSpan& into) const {
  const auto fitting = [](std::int64_t ticks) {
    const bool fits = ticks >= 0 && ticks < std::int64_t{KeptOpSpan::does_not_fit};
    return fits ? std::uint32_t(ticks) : KeptOpSpan::does_not_fit;
  };
  const Spans& spans = profile_.spans;
  const Interval interval = interval_of(spans, row);
  into.begin = interval.begin;
  into.length = fitting(length_of(interval));
  into.own = fitting(own_[row]);
  into.row = std::uint32_t(row);
  into.op = spans.op[row];
  into.unit = spans.unit[row];
  into.inference_and_kind =
      std::min(inferences_.of(row), KeptOpSpan::no_inference) << 8 | std::uint32_t(spans.kind[row]);
}

inline void OpSums::unpack(const KeptOpSpan& kept, OpSpan& into) const {
  const bool fits = kept.length != KeptOpSpan::does_not_fit;
  into.begin = kept.begin;
  into.end = fits ? kept.begin + kept.length : interval_of(profile_.spans, kept.row).end;
  into.own = kept.own != KeptOpSpan::does_not_fit ? kept.own : own_[kept.row];
  into.row = kept.row;
  into.op = kept.op;
  into.unit = kept.unit;
  into.inference = kept.inference();
  into.kind = kept.kind();
}

}  // namespace npuscope::analysis
