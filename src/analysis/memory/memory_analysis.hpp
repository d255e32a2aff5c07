// The table of memory (npuscope/analysis/memory.hpp) while it is made: what the run has as a whole
// in memory_whole.cpp, what each row did in memory_cells.cpp, what follows from both in memory.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/memory/memory_groups.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "base/per_thread.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::analysis {

// As a whole number; sums that saturated stay the largest.
std::int64_t rounded(double value);
// Of the values and so many zeros; no value is below 0.
double median_with(std::vector<double> values, std::size_t zeros = 0);

class MemoryAnalysis {
 public:
  // What one row did in one inference.
  struct Cell {
    std::uint32_t inference = 0;
    std::array<std::int64_t, route_count> bytes{};
    double active = 0;
    double ddr = 0;               // time in which its bytes moved; 0: `active`
    std::int64_t vtcm_ahead = 0;  // VTCM bytes of transfers that it started ahead of time
    double hvx = 0, hmx = 0;      // ticks of kernels
    double measuring = 0;         // of those on HMX, what is no work of the model
    std::uint64_t hvx_spans = 0, hmx_spans = 0, dma_spans = 0;
    std::array<double, precision_count> macs{};
  };

  // What is asked of a span that counts, side by side.
  struct Counted {  // without values at first, for the sake of Column
    std::int64_t begin, end;
    std::uint32_t row, inference;
    OpId op;
    SpanKind kind;
    Engine engine;
  };

  MemoryAnalysis(const Analysis& analysis, const MemoryOptions& options)
      : analysis_(analysis),
        profile_(analysis.profile()),
        traffic_(analysis.traffic()),
        options_(options),
        macs_(profile_),
        groups_(make_memory_groups(profile_, options.grouping)),
        engines_(profile_) {}

  MemoryTable finish();

 private:
  std::vector<Route> routes_of_spans() const;
  void find_threads_of_units();
  void find_engines();
  void find_threads();
  void find_inferences();
  void take_told_wall();
  void sum_inferences();
  void find_rates(bool base_counts_cycles);
  void make_roofs_of_profile();
  void sort_rows();
  bool may_issue() const;
  void find_issues();
  std::vector<Cell> cells_of(std::size_t group);
  void measure_active(Cell& cell, std::span<Counted> spans) const;
  void add_span(Cell& cell, const Counted& span) const;
  void fill(MemoryRow& row, const std::vector<Cell>& cells) const;
  void fill_without_timeline();
  void take_model();
  void sum_up();
  void rank();
  Work work_with_units(Work work) const;
  bool is_active(std::size_t row) const {
    return role_of(profile_.spans.kind[row]) == Role::work ||
           profile_.spans.kind[row] == SpanKind::dma_wait;
  }
  // What only waits may have moved something all the same, the op that ends a run for one.
  bool counts(std::size_t row) const {
    return is_active(row) || (role_of(profile_.spans.kind[row]) == Role::wait && moves(row));
  }
  bool moves(std::size_t row) const {
    for (std::size_t route = 0; route < route_count; ++route) {
      if (traffic_.of_spans_known(Route(route)) && traffic_.of_span(Route(route), row) > 0) {
        return true;
      }
    }
    return false;
  }
  // What its op uses, issues of transfers included, else its lane.
  Engine engine_at(std::size_t row) const;
  std::uint32_t inference_of(std::size_t row) const {
    return has_instances_ ? profile_.spans.instance[row] : 0;
  }

  const Analysis& analysis_;
  const Profile& profile_;
  const OpTraffic& traffic_;
  const MemoryOptions& options_;
  OpMacs macs_;
  MemoryGroups groups_;
  SpanEngines engines_;
  MemoryTable table_;
  bool has_instances_ = false;
  std::vector<Precision> precision_of_op_;
  std::uint32_t hvx_units_ = 0, hmx_units_ = 0, dma_units_ = 0;
  std::vector<std::uint32_t> first_;                        // of each group
  Column<Counted> sorted_;                                  // by group
  mutable PerThread<std::vector<Counted>> sorted_by_time_;  // of the cell at hand
  // Issues of transfers that go on after them, by row: when their unit next works for another row
  // of the table. Empty where transfers have spans of their own.
  std::unordered_map<std::uint32_t, std::int64_t> issues_;
  std::vector<std::uint32_t> threads_of_unit_;  // that its spans stand for
};

}  // namespace npuscope::analysis
