// A table of ops (npuscope/analysis/ops.hpp) while it is made: columns and which rows are kept in
// ops.cpp, what a row ran and on which cores in op_table_details.cpp, columns of spans in
// op_sums.cpp.
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
#include "analysis/timeline/span_engines.hpp"
#include "base/counting_sort.hpp"
#include "base/per_thread.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"

namespace npuscope::analysis {

// The columns of an op table that come from spans, summed for one row of it.
//
//   const OpSums sums(analysis, keys, options);
//   sums.columns()[1].name       // "work"
//   const RowSums row = sums.of(group);
//   row.value(column)            // sum, or the median of the inferences after the first

using OpSpans = std::span<const OpSpan>;

// What each column sums to in each inference in which the row ran.
struct RowSums {
  std::vector<std::uint32_t> inferences;  // of each slot
  std::vector<double> sums;               // slots x columns
  std::vector<bool> known;                // by column
};

class OpSums {
 public:
  OpSums(const Analysis& analysis, const OpKeys& keys, const OpOptions& options);

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

  void find_columns(const OpOptions& options);
  void add(OpColumn column, Source source);
  class Adding;

  const Profile& profile_;
  const SelfTimes& own_;
  const IssuesBeside& issues_;
  const OpKeys& keys_;
  const Inferences& inferences_;
  bool per_inference_;
  std::vector<OpColumn> columns_;
  std::vector<Source> sources_;
  std::uint64_t columns_left_ = 0;
  bool any_compiled_ = false;
  std::shared_ptr<const OpSpansInGroups> by_op_;
  Grouped<> ops_;  // by group; the last op stands for those that do not exist
  std::optional<OpSpansInGroups> by_units_;
  mutable PerThread<OfThread> of_thread_;
};

template <class Take>
void OpSums::for_spans(std::uint32_t group, const Take& take) const {
  if (keys_.of_units()) {
    take(by_units_->of(group));
    return;
  }
  for (const std::uint32_t op : ops_.of(group)) {
    if (const auto spans = by_op_->of(op); !spans.empty()) take(spans);
  }
}

class OpTableBuilder {
 public:
  OpTableBuilder(const Analysis& analysis, const OpOptions& options)
      : analysis_(analysis),
        profile_(analysis.profile()),
        own_(analysis.self_times()),
        options_(options),
        keys_(profile_, options),
        cores_(profile_),
        engines_(profile_),
        inferences_(analysis.inferences()),
        sums_(analysis, keys_, options) {}

  OpTable finish();

 private:
  class Instances;
  class Details;
  class Runs;

  bool counts_runs() const { return options_.count_runs || options_.details; }
  bool is_steady() const { return options_.per_inference && inferences_.count() > 1; }
  bool wants_spreads() const { return options_.details && is_steady(); }
  // Of several inferences the first stands apart.
  bool counts(const OpSpan& span) const { return !is_steady() || is_after_first(span.inference); }
  bool is_after_first(std::uint32_t inference) const {
    return inference > 0 && inference < inferences_.count();
  }
  double typical_of(const std::vector<double>& work) const;
  std::vector<double>* add_column(OpColumn column);
  void add_span_columns();
  RowSums sum_row(std::uint32_t group);
  std::vector<OverInferences> spreads_of(const RowSums& row) const;
  void add_starts();
  void add_op_measures();
  void count_cores();
  void take_told_cores();
  std::optional<double> core_cycles_of(const std::vector<const Measure*>& measures) const;
  std::optional<double> whole_of(const OpColumn& column) const;
  double wall() const;
  void choose_ranking();
  std::optional<double> rank_value(std::uint32_t row) const;
  bool is_shown(std::uint32_t row) const;
  void rank();

  const Analysis& analysis_;
  const Profile& profile_;
  const SelfTimes& own_;
  const OpOptions& options_;
  OpKeys keys_;
  CoreNumbers cores_;
  SpanEngines engines_;
  const Inferences& inferences_;  // more than can be told apart are sums
  OpSums sums_;
  // Of the row at hand, empty between two: by core, work by slot of the row, no number where it did
  // not run; by unit, whether it was used.
  using WorkOfCores = std::vector<std::vector<double>>;
  mutable PerThread<WorkOfCores> work_of_cores_;
  mutable PerThread<std::vector<std::uint8_t>> used_units_;
  mutable PerThread<OpRuns::Units> units_of_runs_;
  OpTable table_;
  std::vector<std::vector<double>> values_;  // by column, then row of the table
  std::vector<std::vector<std::uint8_t>> known_;
  int ranked_by_detail_ = -1;  // a place among the names of details; -1: by a column
};

}  // namespace npuscope::analysis
