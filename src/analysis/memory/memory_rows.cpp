// What each row of the table did, inference by inference, and what of it counts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/memory/memory_analysis.hpp"
#include "analysis/ops/row_names.hpp"
#include "analysis/order_statistics.hpp"
#include "base/counting_sort.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {

namespace {

constexpr std::uint32_t no_cell = ~std::uint32_t{0};

}  // namespace

std::int64_t rounded(double value) {
  constexpr double max = 9.2e18;
  return value < max ? std::llround(value) : std::numeric_limits<std::int64_t>::max();
}

double median_with(std::vector<double> values, std::size_t zeros) {
  const std::size_t count = values.size() + zeros;
  const std::size_t upper = count / 2;
  if (values.empty() || upper < zeros) return 0;
  const std::size_t middle = upper - zeros;
  if (count % 2 == 1) return smallest_at(values, middle).at;
  if (middle == 0) return smallest_at(values, 0).at / 2;  // after a zero
  const auto [before, after] = smallest_at(values, middle - 1);
  return (before + after) / 2;
}

MemoryCells::MemoryCells(const Inferences& inferences, std::size_t spans) {
  const bool are_few = inferences.count() < 8 * spans;
  if (inferences.count() > 1 && are_few) by_place_.assign(inferences.count() + 1, no_cell);
}

std::uint32_t MemoryCells::find(std::uint32_t instance) {
  last_instance_ = instance;
  if (by_place_.empty()) {
    last_cell_ = by_instance_.try_emplace(instance, size_).first->second;
  } else {
    std::uint32_t& cell = by_place_[std::min<std::size_t>(instance, by_place_.size() - 1)];
    if (cell == no_cell) cell = size_;
    last_cell_ = cell;
  }
  size_ += last_cell_ == size_;
  return last_cell_;
}

MemoryCells::Over MemoryCells::over(std::size_t inferences,
                                    std::optional<std::uint32_t> left_out) const {
  const auto cells = std::ranges::count_if(
      inferences_, [&](std::uint32_t inference) { return left_out != inference; });
  return {left_out, std::max(inferences, std::size_t(cells))};
}

template <class Value>
double MemoryCells::median(const std::vector<Value>& values, const Over& over) const {
  std::vector<double> others;
  others.reserve(values.size());
  bool all_equal = true;
  for (std::size_t cell = 0; cell < values.size(); ++cell) {
    if (over.left_out == inferences_[cell]) continue;
    others.push_back(double(values[cell]));
    all_equal = all_equal && others.back() == others.front();
  }
  if (others.empty()) return 0;  // as most figures of most rows are
  if (all_equal && others.size() >= over.inferences) return others.front();
  const std::size_t zeros = over.inferences - std::min(over.inferences, others.size());
  return median_with(std::move(others), zeros);
}

template double MemoryCells::median(const std::vector<double>&, const Over&) const;
template double MemoryCells::median(const std::vector<std::int64_t>&, const Over&) const;

DdrUse::DdrUse(const BandwidthSeries& series)
    : timeline_(series.timeline), width_(std::max<double>(1, double(series.width))) {
  until_.assign(series.buckets() + 1, 0);
  for (const Route route : {Route::ddr_read, Route::ddr_write}) {
    const std::vector<std::int64_t>& bytes = series.bytes[std::size_t(route)];
    for (std::size_t i = 0; i < bytes.size(); ++i) until_[i + 1] += double(bytes[i]);
  }
  for (std::size_t i = 1; i < until_.size(); ++i) until_[i] += until_[i - 1];
}

double DdrUse::until(std::int64_t time) const {
  const std::int64_t after = length_of({timeline_.begin, std::min(time, timeline_.end)});
  const double place = double(after) / width_;
  const auto bucket = std::min(std::size_t(place), until_.size() - 1);
  const auto next = std::min(bucket + 1, until_.size() - 1);
  return until_[bucket] + (until_[next] - until_[bucket]) * (place - double(bucket));
}

void MemoryAnalysis::add_span(MemoryCells& cells, std::uint32_t cell, const Counted& span) const {
  add_moved(cells, cell, span.row);
  if (role_of(span.kind) != Role::work || span.kind == SpanKind::transfer) return;
  const std::size_t unit = index_of(span.unit);
  const std::uint32_t threads = unit < threads_of_unit_.size() ? threads_of_unit_[unit] : 1;
  const double duration = double(length_of({span.begin, span.end})) * threads;
  switch (span.engine) {
    case Engine::hvx:
      cells.add(MemoryFigure::hvx_ticks, cell, duration);
      cells.add(MemoryFigure::hvx_spans, cell, threads);
      break;
    case Engine::hmx:
      cells.add(MemoryFigure::hmx_ticks, cell, duration);
      if (is_instrumentation(profile_, span.op)) {
        cells.add(MemoryFigure::instrumentation_ticks, cell, duration);
      }
      cells.add(MemoryFigure::hmx_spans, cell, threads);
      break;
    case Engine::dma:
    case Engine::dma_issue: cells.add(MemoryFigure::dma_spans, cell, 1); break;
    default: break;
  }
  add_macs(cells, cell, span.op);
}

void MemoryAnalysis::add_moved(MemoryCells& cells, std::uint32_t cell, std::size_t row) const {
  for (const Route route : routes_) {
    if (windows_ != nullptr && !traffic_.states(route, row)) continue;
    cells.add_bytes(route, cell, traffic_.of_span(route, row));
    if (windows_ != nullptr) cells.states_bytes(route);
  }
}

void MemoryAnalysis::add_macs(MemoryCells& cells, std::uint32_t cell, OpId op) const {
  if (const auto macs = macs_.of(op)) {
    cells.add(macs_of(std::size_t(precision_of_op_[index_of(op)])), cell, *macs);
  }
}

MemoryCells MemoryAnalysis::cells_of(std::size_t group) {
  std::size_t count = 0;
  for (const std::uint32_t op : ops_.of(group)) count += by_op_->of(op).size();
  MemoryCells cells(inferences_, count);
  // Without issues all that matters of a span is when it was active.
  InCells<Interval> active, not_moving;
  InCells<Counted> spans;
  if (options_.active_of_rows && issues_.empty()) active.reserve(count);
  bool moves = false;
  std::uint64_t working = 0;
  for (const std::uint32_t op : ops_.of(group)) {
    const auto of_op = by_op_->of(op);
    if (of_op.empty()) continue;
    const Engine engine = engines_.of_op(of_op.front().op);
    for (const KeptOpSpan& kept : of_op) {
      const SpanKind kind = kept.kind();
      const bool is_window = is_frame_of_work(kind, kept.row);
      if (!is_window && !counts(kind, kept.row)) continue;
      working += role_of(kind) == Role::work;
      const std::uint32_t cell = cells.of(by_op_->instance(kept));
      if (cell == cells.size()) cells.begin(inference_of(kept));
      if (is_window) {
        add_moved(cells, cell, kept.row);
        add_macs(cells, cell, kept.op);
        continue;
      }
      const Interval interval = by_op_->interval(kept);
      const Counted span = {interval.begin,
                            interval.end,
                            kept.row,
                            kept.op,
                            kept.unit,
                            kind,
                            engine != Engine::none ? engine : engines_.lane(kept.unit)};
      add_span(cells, cell, span);
      if (!options_.active_of_rows) continue;
      if (!issues_.empty()) {
        spans.add(cell, span);
      } else if (is_active(kind)) {
        const bool is_moving = any_movement_ && is_movement(kind, span.engine);
        if (is_moving && !moves) not_moving = active;  // as most rows have nothing that moves
        moves = moves || is_moving;
        if (moves && !is_moving) not_moving.add(cell, interval);
        active.add(cell, interval);
      }
    }
  }
  groups_.rows[group].spans += working;
  active.for_cells(cells.size(), [&](std::uint32_t cell, std::span<Interval> of_cell) {
    const auto length = double(covered_length(of_cell));
    cells.set(MemoryFigure::active_ticks, cell, length);
    if (moves) cells.set(MemoryFigure::moving_ticks, cell, length);
    if (ddr_use_) measure_ddr(cells, cell, {of_cell.begin(), of_cell.end()});
  });
  not_moving.for_cells(cells.size(), [&](std::uint32_t cell, std::span<Interval> of_cell) {
    cells.add(MemoryFigure::moving_ticks, cell, -double(covered_length(of_cell)));
  });
  spans.for_cells(cells.size(), [&](std::uint32_t cell, std::span<Counted> of_cell) {
    measure_active(cells, cell, of_cell);
  });
  return cells;
}

// Whether any span can be the issue of a transfer: a DMA op on a lane of another name, or an op on
// a lane that issues.
bool MemoryAnalysis::may_issue() const {
  const auto issues = [](const Unit& unit) { return unit.engine == Engine::dma_issue; };
  return engines_.any_op_uses(Engine::dma) || engines_.any_op_uses(Engine::dma_issue) ||
         std::any_of(profile_.units.begin(), profile_.units.end(), issues);
}

// An HTP draws the issue of a transfer, which goes on after it, so that its bytes are in no span.
void MemoryAnalysis::find_issues() {
  const Spans& spans = profile_.spans;
  if (!may_issue()) return;
  std::vector<bool> has_transfer(profile_.ops.size(), false);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (spans.kind[row] == SpanKind::transfer && op < has_transfer.size()) has_transfer[op] = true;
  }
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::size_t op = index_of(spans.op[row]);
    if (spans.kind[row] != SpanKind::op || op >= has_transfer.size() || has_transfer[op]) continue;
    if (engines_.of(row) != Engine::dma_issue || !moves(row)) continue;
    issues_.try_emplace(std::uint32_t(row), std::numeric_limits<std::int64_t>::max());
  }
  if (issues_.empty()) return;
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  const SpansByUnit& by_unit = analysis_.spans_by_unit();
  for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) {
    const auto of_unit = by_unit.spans_of(UnitId(unit));
    std::uint32_t next_group = ~std::uint32_t{0};
    std::int64_t next = never, other = never;  // begin of the next span, and of one of another row
    for (std::size_t place = of_unit.size(); place-- > 0;) {
      const SpanOfUnit span = of_unit[place];
      if (role_of(span.kind) != Role::work) continue;
      const std::uint32_t group = groups_.of(span.op);
      if (group != next_group) other = std::exchange(next, span.begin);
      next = span.begin;
      next_group = group;
      const auto issue = issues_.find(span.row);
      if (issue != issues_.end()) issue->second = other;
    }
  }
}

// Of issues nobody knows when their bytes moved.
void MemoryAnalysis::find_ddr_use() {
  const bool knows_bytes =
      traffic_.of_spans_known(Route::ddr_read) || traffic_.of_spans_known(Route::ddr_write);
  const bool knows_times = options_.active_of_rows && knows_bytes && issues_.empty();
  const bool knows_use = knows_times && table_.roofs.ddr_bytes_per_tick;
  any_movement_ = options_.movement || knows_use;
  if (!knows_use) return;
  constexpr std::size_t buckets_of_inference = 4096, max_buckets = 1 << 20;
  const std::size_t inferences =
      std::clamp<std::size_t>(table_.inferences.size(), 1, max_buckets / buckets_of_inference);
  ddr_use_.emplace(find_bandwidth(analysis_, buckets_of_inference * inferences));
}

void MemoryAnalysis::measure_ddr(MemoryCells& cells, std::uint32_t cell,
                                 std::vector<Interval> times) const {
  double bytes = 0;
  for (const Interval& time : union_of(std::move(times))) bytes += ddr_use_->bytes_in(time);
  cells.set(MemoryFigure::ddr_bytes_of_all, cell, bytes);
}

// Sorts the spans by their start. A transfer that was issued before its unit worked for others, and
// then for the row again, was started ahead: its issue is no part of the row's active time, and its
// bytes had until the row computes.
void MemoryAnalysis::measure_active(MemoryCells& cells, std::uint32_t cell,
                                    std::span<Counted> spans) const {
  const auto before = [](const Counted& a, const Counted& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.row < b.row;
  };
  if (!std::is_sorted(spans.begin(), spans.end(), before)) {
    std::sort(spans.begin(), spans.end(), before);
  }
  std::vector<Interval> ahead;
  std::vector<std::uint8_t> is_ahead;
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t computing = never;  // the next begin of that
  for (std::size_t i = spans.size(); i-- > 0;) {
    const Counted& span = spans[i];
    if (computes(span.kind, span.engine)) {
      computing = span.begin;
      continue;
    }
    const auto issue = issues_.find(span.row);
    if (issue == issues_.end() || computing == never || issue->second >= computing) continue;
    is_ahead.resize(spans.size(), 0);
    is_ahead[i] = 1;
    ahead.push_back({span.begin, computing});
    cells.take_one(MemoryFigure::dma_spans, cell);
    for (const Route route : {Route::vtcm_read, Route::vtcm_write}) {
      if (!traffic_.of_spans_known(route)) continue;
      cells.add_vtcm_ahead(cell, traffic_.of_span(route, span.row));
    }
  }
  std::int64_t covered = spans.front().begin, not_moving = covered;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Counted& span = spans[i];
    if (!is_active(span.kind)) continue;
    if (!is_ahead.empty() && is_ahead[i] != 0) continue;
    const double length = double(length_of({std::max(covered, span.begin), span.end}));
    cells.add(MemoryFigure::active_ticks, cell, length);
    covered = std::max(covered, span.end);
    cells.add(MemoryFigure::moving_ticks, cell, length);
    if (!is_movement(span.kind, span.engine)) {
      const Interval fresh = {std::max(not_moving, span.begin), span.end};
      cells.add(MemoryFigure::moving_ticks, cell, -double(length_of(fresh)));
      not_moving = std::max(not_moving, span.end);
    }
    if (!ahead.empty()) ahead.push_back({span.begin, span.end});
  }
  if (!ahead.empty()) cells.set(MemoryFigure::ddr_ticks, cell, double(covered_length(ahead)));
}

void MemoryAnalysis::fill(MemoryRow& row, const MemoryCells& cells) const {
  std::optional<std::uint32_t> first;
  if (table_.first_apart) first = table_.inferences.front().instance;
  const MemoryCells::Over over = cells.over(table_.inferences.size() - (first ? 1 : 0), first);
  const auto figure = [&](MemoryFigure of) { return cells.median(of, over); };
  for (const Route route : routes_) {
    const bool is_stated = windows_ == nullptr || cells.are_bytes_stated(route);
    if (is_stated) row.bytes[std::size_t(route)] = cells.bytes(route, over);
  }
  row.active = figure(MemoryFigure::active_ticks);
  Work& work = row.work;
  work.ddr_ticks = figure(MemoryFigure::ddr_ticks);
  work.moving_ticks = figure(MemoryFigure::moving_ticks);
  if (ddr_use_) work.ddr_bytes_of_all = figure(MemoryFigure::ddr_bytes_of_all);
  row.vtcm_bytes_ahead = cells.vtcm_ahead(over);
  work.hvx_ticks = figure(MemoryFigure::hvx_ticks);
  work.hmx_ticks = figure(MemoryFigure::hmx_ticks);
  for (std::size_t i = 0; i < precision_count; ++i) work.macs[i] = figure(macs_of(i));
  row.instrumentation = figure(MemoryFigure::instrumentation_ticks);
  work.macs_known = work.hmx_ticks <= row.instrumentation || work.all_macs() > 0;
  const auto dispatch = [&](std::optional<double> ticks, std::uint32_t units, MemoryFigure of) {
    if (ticks && units > 0) {
      work.dispatch_ticks = std::max(work.dispatch_ticks, *ticks * figure(of) / units);
    }
  };
  dispatch(table_.roofs.hvx_dispatch_ticks, hvx_units_, MemoryFigure::hvx_spans);
  dispatch(table_.roofs.hmx_dispatch_ticks, hmx_units_, MemoryFigure::hmx_spans);
  dispatch(table_.roofs.dma_dispatch_ticks, dma_units_, MemoryFigure::dma_spans);
}

}  // namespace npuscope::analysis
