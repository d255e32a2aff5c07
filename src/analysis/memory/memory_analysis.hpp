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

#include "analysis/inference_times.hpp"
#include "analysis/memory/memory_groups.hpp"
#include "analysis/ops/op_spans.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "base/counting_sort.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/profile/column.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {

// What one row of the table of memory did in each inference in which it ran: its cells.
//
//   MemoryCells cells(analysis.inferences(), spans);
//   const std::uint32_t cell = cells.of(instance, number);
//   cells.add(MemoryFigure::hvx_ticks, cell, 120);
//   cells.median(MemoryFigure::hvx_ticks, cells.over(20, first))   // of 20 without the first
//
// Figure by figure, as most of most rows are 0 everywhere.

// As a whole number; sums that saturated stay the largest.
std::int64_t rounded(double value);
// Of the values and so many zeros; no value is below 0.
double median_with(std::vector<double> values, std::size_t zeros = 0);

enum class MemoryFigure : std::uint8_t {
  active_ticks,
  ddr_ticks,         // in which its bytes moved; 0: active_ticks
  ddr_bytes_of_all,  // that the DDR moved meanwhile
  moving_ticks,      // active, with data that moves or is waited for and nothing else
  hvx_ticks,         // of kernels
  hmx_ticks,
  instrumentation_ticks,  // of those on HMX, what is no work of the model
  hvx_spans,
  hmx_spans,
  dma_spans,
  macs,  // and so on, by precision
};
inline constexpr std::size_t memory_figure_count =
    std::size_t(MemoryFigure::macs) + precision_count;
inline MemoryFigure macs_of(std::size_t precision) {
  return MemoryFigure(std::size_t(MemoryFigure::macs) + precision);
}

class MemoryCells {
 public:
  // Of a row with so many spans.
  MemoryCells(const Inferences& inferences, std::size_t spans);

  // The cell of what OpSpansInGroups::instance() says of a span; the next new one is size().
  std::uint32_t of(std::uint32_t instance) {
    return size_ > 0 && instance == last_instance_ ? last_cell_ : find(instance);
  }
  // To be told in their order, once for each.
  void begin(std::uint32_t inference) { inferences_.push_back(inference); }
  std::uint32_t size() const { return std::uint32_t(inferences_.size()); }

  void add(MemoryFigure figure, std::uint32_t cell, double value) {
    at(figures_[std::size_t(figure)], cell) += value;
  }
  void set(MemoryFigure figure, std::uint32_t cell, double value) {
    at(figures_[std::size_t(figure)], cell) = value;
  }
  // One less, if there is any.
  void take_one(MemoryFigure figure, std::uint32_t cell) {
    double& value = at(figures_[std::size_t(figure)], cell);
    value = value < 1 ? 0 : value - 1;
  }
  void add_bytes(Route route, std::uint32_t cell, std::int64_t bytes) {
    add_bytes(bytes_[std::size_t(route)], cell, bytes);
  }
  // That the file says something of the row on this route, if only nothing.
  void states_bytes(Route route) { stated_[std::size_t(route)] = true; }
  bool are_bytes_stated(Route route) const { return stated_[std::size_t(route)]; }
  // VTCM bytes of transfers that it started ahead of time.
  void add_vtcm_ahead(std::uint32_t cell, std::int64_t bytes) {
    add_bytes(vtcm_ahead_, cell, bytes);
  }

  // Medians over so many inferences, in which it did nothing where it has no cell; without what it
  // did in `left_out`.
  struct Over {
    std::optional<std::uint32_t> left_out;
    std::size_t inferences = 0;
  };
  // Over so many beside `left_out`, and no fewer than it has cells.
  Over over(std::size_t inferences, std::optional<std::uint32_t> left_out) const;
  double median(MemoryFigure figure, const Over& over) const {
    return median(figures_[std::size_t(figure)], over);
  }
  std::int64_t bytes(Route route, const Over& over) const {
    return rounded(median(bytes_[std::size_t(route)], over));
  }
  std::int64_t vtcm_ahead(const Over& over) const { return rounded(median(vtcm_ahead_, over)); }

 private:
  // By cell; shorter where the last are 0.
  template <class Value>
  static Value& at(std::vector<Value>& values, std::uint32_t cell) {
    if (cell >= values.size()) values.resize(cell + 1, 0);
    return values[cell];
  }
  static void add_bytes(std::vector<std::int64_t>& values, std::uint32_t cell, std::int64_t bytes) {
    if (bytes == 0) return;
    std::int64_t& value = at(values, cell);
    value = saturating_add(value, bytes);
  }
  std::uint32_t find(std::uint32_t instance);
  template <class Value>
  double median(const std::vector<Value>& values, const Over& over) const;

  std::vector<std::uint32_t> by_place_;  // among Inferences; the last of spans of none
  std::unordered_map<std::uint32_t, std::uint32_t> by_instance_;  // where those are many
  std::uint32_t size_ = 0, last_instance_ = 0, last_cell_ = 0;
  std::vector<std::uint32_t> inferences_;  // by cell
  std::array<std::vector<double>, memory_figure_count> figures_;
  std::array<std::vector<std::int64_t>, route_count> bytes_;
  std::array<bool, route_count> stated_{};
  std::vector<std::int64_t> vtcm_ahead_;
};

// What is gathered of a row of the table, to be looked at cell by cell.
template <class Item>
class InCells {
 public:
  void reserve(std::size_t items) {
    cells_.reserve(items);
    items_.reserve(items);
  }
  void add(std::uint32_t cell, const Item& item) {
    in_order_ = in_order_ && (cells_.empty() || cells_.back() <= cell);
    cells_.push_back(cell);
    items_.push_back(item);
  }

  // visit(cell, its items), which it may change, for each that has any.
  template <class Visit>
  void for_cells(std::uint32_t cells, const Visit& visit) {
    if (items_.empty()) return;
    std::vector<std::uint32_t> next(std::size_t{cells} + 1, 0);
    for (const std::uint32_t cell : cells_) next[cell + 1] += 1;
    for (std::uint32_t cell = 0; cell < cells; ++cell) next[cell + 1] += next[cell];
    const std::vector<std::uint32_t> first(next);
    if (!in_order_) {
      std::vector<Item> sorted(items_.size());
      for (std::size_t i = 0; i < items_.size(); ++i) sorted[next[cells_[i]]++] = items_[i];
      items_.swap(sorted);
    }
    for (std::uint32_t cell = 0; cell < cells; ++cell) {
      const std::size_t count = first[cell + 1] - first[cell];
      if (count > 0) visit(cell, std::span(items_).subspan(first[cell], count));
    }
  }

 private:
  std::vector<Item> items_;
  std::vector<std::uint32_t> cells_;  // of each
  bool in_order_ = true;
};

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
        windows_(profile_.spans.measure(NumberRole::op_window)),
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
  void add_moved(MemoryCells& cells, std::uint32_t cell, std::size_t row) const;
  void add_macs(MemoryCells& cells, std::uint32_t cell, OpId op) const;
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
  // An op's window, where what the engines did in it has spans of its own: what the op moved and
  // multiplied is of the window, times are of those.
  bool is_frame_of_work(SpanKind kind, std::size_t row) const {
    return windows_ != nullptr && kind == SpanKind::annotation &&
           windows_->values[row] != MeasureColumn::missing;
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
  const MeasureColumn* windows_;
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
