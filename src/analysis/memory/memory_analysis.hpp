// The table of memory (npuscope/analysis/memory.hpp) while it is made: what the run has as a whole
// in memory_whole.cpp, what each row did in memory_rows.cpp, what follows from both in memory.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/memory/memory_cells.hpp"
#include "analysis/memory/memory_groups.hpp"
#include "analysis/ops/op_spans.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "base/counting_sort.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/profile/column.hpp"

namespace npuscope::analysis {

// What the DDR moved in all until each moment, whoever moved it: a row of the table may find it
// busy with the bytes of others.
//
//   const DdrUse use(series);          // of find_bandwidth()
//   use.bytes_in({100, 200})           // 6,400, read and written
//
// Bytes of a bucket are spread evenly over it.

class DdrUse {
 public:
  explicit DdrUse(const BandwidthSeries& series);

  double bytes_in(Interval interval) const { return until(interval.end) - until(interval.begin); }

 private:
  double until(std::int64_t time) const;

  Interval timeline_;
  double width_ = 1;
  std::vector<double> until_;  // the begin of each bucket, and the end of the last
};

class MemoryAnalysis {
 public:
  // What is asked of a span that counts, side by side.
  struct Counted {
    std::int64_t begin = 0, end = 0;
    std::uint32_t row = 0;
    OpId op{};
    UnitId unit{};
    SpanKind kind{};
    Engine engine{};
  };

  MemoryAnalysis(const Analysis& analysis, const MemoryOptions& options)
      : analysis_(analysis),
        profile_(analysis.profile()),
        traffic_(analysis.traffic()),
        options_(options),
        macs_(profile_),
        groups_(make_memory_groups(profile_, options.grouping)),
        engines_(profile_),
        routes_(routes_of_spans()),
        inferences_(analysis.inferences()),
        by_op_(analysis.spans_by_op()) {}

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
  bool may_issue() const;
  void find_issues();
  void find_ddr_use();
  MemoryCells cells_of(std::size_t group);  // and counts the row's spans
  // When its bytes moved: `times`, in any order.
  void measure_ddr(MemoryCells& cells, std::uint32_t cell, std::vector<Interval> times) const;
  void add_span(MemoryCells& cells, std::uint32_t cell, const Counted& span) const;
  void measure_active(MemoryCells& cells, std::uint32_t cell, std::span<Counted> spans) const;
  void fill(MemoryRow& row, const MemoryCells& cells) const;
  void fill_without_timeline();
  void take_model();
  void sum_up_bytes();
  void sum_up();
  void rank();
  Work work_with_units(Work work) const;
  static bool computes(SpanKind kind, Engine engine) {
    return kind == SpanKind::op && domain_of(engine) == Domain::compute;
  }
  // Of what is active.
  static bool is_movement(SpanKind kind, Engine engine) {
    return kind == SpanKind::dma_wait || kind == SpanKind::copy ||
           domain_of(engine, kind) == Domain::movement;
  }
  static bool is_active(SpanKind kind) {
    return role_of(kind) == Role::work || kind == SpanKind::dma_wait;
  }
  // What only waits may have moved something all the same, the op that ends a run for one.
  bool counts(SpanKind kind, std::size_t row) const {
    return is_active(kind) || (role_of(kind) == Role::wait && moves(row));
  }
  bool moves(std::size_t row) const {
    return std::any_of(routes_.begin(), routes_.end(),
                       [&](Route route) { return traffic_.of_span(route, row) > 0; });
  }
  std::uint32_t inference_of(std::size_t row) const {
    return has_instances_ ? profile_.spans.instance[row] : 0;
  }
  // The same, which is asked of the profile's rows in no order.
  std::uint32_t inference_of(const KeptOpSpan& kept) const {
    if (inferences_.count() < 2) return inference_of(kept.row);
    const std::uint32_t place = kept.inference();
    return place == Inferences::none ? every_instance : inferences_.ids()[place];
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
  const std::vector<Route> routes_;  // of which spans know
  const Inferences& inferences_;
  const std::shared_ptr<const OpSpansInGroups> by_op_;
  Grouped<> ops_;  // by group
  // Issues of transfers that go on after them, by row: when their unit next works for another row
  // of the table. Empty where transfers have spans of their own.
  std::unordered_map<std::uint32_t, std::int64_t> issues_;
  bool any_movement_ = false;                   // moving_ticks are asked for
  std::optional<DdrUse> ddr_use_;               // where the DDR's peak is known
  std::vector<std::uint32_t> threads_of_unit_;  // that its spans stand for
};

}  // namespace npuscope::analysis
