// A table of ops (npuscope/analysis/ops.hpp) while it is made: columns in ops.cpp, what a row ran
// and on which cores in op_table_details.cpp, which rows are kept in op_table_rank.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/inference_times.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/ops/op_sums.hpp"
#include "analysis/ops/op_times.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "base/per_thread.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"

namespace npuscope::analysis {

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
        sums_(analysis, keys_, options, begins()) {}

  OpTable finish();

 private:
  class Instances;
  class Details;
  class Runs;

  // Active times and runs are of intervals.
  OpSpanBegins begins() const {
    const bool asks_when = options_.active_and_span || counts_runs();
    return asks_when ? OpSpanBegins::kept : OpSpanBegins::left;
  }
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
  const Column<std::int64_t>& own_;
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
