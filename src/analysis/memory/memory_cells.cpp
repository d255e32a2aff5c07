#include "analysis/measuring.hpp"
#include "analysis/memory/memory_analysis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/order_statistics.hpp"
#include "base/counting_sort.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/sort_by_time.hpp"

namespace npuscope::analysis {

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

namespace {

// Of one figure over the cells of a row. In inferences in which it did not run it did nothing.
template <class Figure>
double median_of(const std::vector<MemoryAnalysis::Cell>& cells, std::size_t inferences,
                 const Figure& figure) {
  std::vector<double> values(cells.size());
  bool any = false;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    values[i] = double(figure(cells[i]));
    any = any || values[i] != 0;
  }
  if (!any) return 0;  // as most figures of most rows are
  return median_with(std::move(values), inferences - std::min(inferences, cells.size()));
}

}  // namespace

void MemoryAnalysis::sort_rows() {
  const Spans& spans = profile_.spans;
  CountingSort by_group(spans.size(), groups_.rows.size(), [&](std::size_t row) {
    return counts(row) ? groups_.of(spans.op[row]) : counting_sort_leaves_out;
  });
  first_ = by_group.first();
  sorted_.resize(by_group.size());
  by_group.place([&](std::size_t row, std::uint32_t place) {
    const auto [begin, end] = interval_of(spans, row);
    Counted& counted = sorted_[place];  // each member at once: a copy would wait for them
    counted.begin = begin;
    counted.end = end;
    counted.row = std::uint32_t(row);
    counted.inference = inference_of(row);
    counted.op = spans.op[row];
    counted.kind = spans.kind[row];
    counted.engine = engine_at(row);
  });
}

void MemoryAnalysis::add_span(Cell& cell, const Counted& span) const {
  for (std::size_t route = 0; route < route_count; ++route) {
    if (!traffic_.of_spans_known(Route(route))) continue;
    cell.bytes[route] = saturating_add(cell.bytes[route], traffic_.of_span(Route(route), span.row));
  }
  if (role_of(span.kind) != Role::work || span.kind == SpanKind::transfer) return;
  const std::size_t unit = index_of(profile_.spans.unit[span.row]);
  const std::uint32_t threads = unit < threads_of_unit_.size() ? threads_of_unit_[unit] : 1;
  const double duration = double(length_of({span.begin, span.end})) * threads;
  switch (span.engine) {
    case Engine::hvx:
      cell.hvx += duration;
      cell.hvx_spans += threads;
      break;
    case Engine::hmx:
      cell.hmx += duration;
      cell.measuring += is_measuring(profile_, span.op) ? duration : 0;
      cell.hmx_spans += threads;
      break;
    case Engine::dma:
    case Engine::dma_issue: cell.dma_spans += 1; break;
    default: break;
  }
  if (const auto macs = macs_.of(span.op)) {
    cell.macs[std::size_t(precision_of_op_[index_of(span.op)])] += *macs;
  }
}

std::vector<MemoryAnalysis::Cell> MemoryAnalysis::cells_of(std::size_t group) {
  std::vector<Cell> cells;
  const auto begin = sorted_.begin() + first_[group], end = sorted_.begin() + first_[group + 1];
  const auto of_earlier = [](const Counted& a, const Counted& b) {
    return a.inference < b.inference;
  };
  if (!std::is_sorted(begin, end, of_earlier)) std::stable_sort(begin, end, of_earlier);
  for (auto first = begin; first != end;) {
    auto last = first + 1;
    while (last != end && last->inference == first->inference) ++last;
    Cell& cell = cells.emplace_back(Cell{first->inference});
    // In the order of rows, in which what was moved lies.
    for (auto span = first; span != last; ++span) add_span(cell, *span);
    if (options_.active_of_rows) measure_active(cell, {first, last});
    first = last;
  }
  if (table_.first_apart && !cells.empty() &&
      cells.front().inference == table_.inferences.front().instance) {
    cells.erase(cells.begin());
  }
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
    for (auto span = of_unit.rbegin(); span != of_unit.rend(); ++span) {
      if (role_of(span->kind) != Role::work) continue;
      const std::uint32_t group = groups_.of(span->op);
      if (group != next_group) other = std::exchange(next, span->begin);
      next = span->begin;
      next_group = group;
      const auto issue = issues_.find(span->row);
      if (issue != issues_.end()) issue->second = other;
    }
  }
}

// Sorts the spans by their start. A transfer that was issued before its unit worked for others, and
// then for the row again, was started ahead: its issue is no part of the row's active time, and its
// bytes had until the row computes.
void MemoryAnalysis::measure_active(Cell& cell, std::span<Counted> spans) const {
  const auto before = [](const Counted& a, const Counted& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.row < b.row;
  };
  const bool is_sorted = std::is_sorted(spans.begin(), spans.end(), before);
  if (!is_sorted && issues_.empty()) {
    std::vector<Interval> active;
    active.reserve(spans.size());
    for (const Counted& span : spans) {
      const bool counts = role_of(span.kind) == Role::work || span.kind == SpanKind::dma_wait;
      if (counts) active.push_back({span.begin, span.end});
    }
    cell.active = double(covered_length(active));
    return;
  }
  if (!is_sorted) {
    std::vector<Counted>& sorted = sorted_by_time_.mine();
    sorted.assign(spans.begin(), spans.end());  // by their rows
    sort_by_time(sorted, [](const Counted& span) { return span.begin; });
    spans = sorted;
  }
  std::vector<Interval> ahead;
  std::vector<std::uint8_t> is_ahead;
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  std::int64_t computes = never;  // the next begin of that
  for (std::size_t i = spans.size(); i-- > 0;) {
    const Counted& span = spans[i];
    if (span.kind == SpanKind::op && domain_of(span.engine) == Domain::compute) {
      computes = span.begin;
      continue;
    }
    const auto issue = issues_.find(span.row);
    if (issue == issues_.end() || computes == never || issue->second >= computes) continue;
    is_ahead.resize(spans.size(), 0);
    is_ahead[i] = 1;
    ahead.push_back({span.begin, computes});
    cell.dma_spans -= std::min<std::uint64_t>(cell.dma_spans, 1);
    for (const Route route : {Route::vtcm_read, Route::vtcm_write}) {
      if (!traffic_.of_spans_known(route)) continue;
      cell.vtcm_ahead = saturating_add(cell.vtcm_ahead, traffic_.of_span(route, span.row));
    }
  }
  std::int64_t covered = spans.front().begin;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Counted& span = spans[i];
    if (role_of(span.kind) != Role::work && span.kind != SpanKind::dma_wait) continue;
    if (!is_ahead.empty() && is_ahead[i] != 0) continue;
    const double length = double(length_of({std::max(covered, span.begin), span.end}));
    cell.active += length;
    covered = std::max(covered, span.end);
    if (!ahead.empty()) ahead.push_back({span.begin, span.end});
  }
  if (!ahead.empty()) cell.ddr = double(covered_length(ahead));
}

void MemoryAnalysis::fill(MemoryRow& row, const std::vector<Cell>& cells) const {
  const std::size_t inferences = table_.inferences.size() - (table_.first_apart ? 1 : 0);
  const auto figure = [&](auto of) { return median_of(cells, inferences, of); };
  for (std::size_t route = 0; route < route_count; ++route) {
    if (!traffic_.of_spans_known(Route(route))) continue;
    row.bytes[route] = rounded(figure([&](const Cell& cell) { return cell.bytes[route]; }));
  }
  row.active = figure([](const Cell& cell) { return cell.active; });
  Work& work = row.work;
  work.ddr_ticks = figure([](const Cell& cell) { return cell.ddr; });
  row.vtcm_bytes_ahead = rounded(figure([](const Cell& cell) { return cell.vtcm_ahead; }));
  work.hvx_ticks = figure([](const Cell& cell) { return cell.hvx; });
  work.hmx_ticks = figure([](const Cell& cell) { return cell.hmx; });
  for (std::size_t i = 0; i < precision_count; ++i) {
    work.macs[i] = figure([&](const Cell& cell) { return cell.macs[i]; });
  }
  row.measuring = figure([](const Cell& cell) { return cell.measuring; });
  work.macs_known = work.hmx_ticks <= row.measuring || work.all_macs() > 0;
  const auto dispatch = [&](std::optional<double> ticks, std::uint32_t units, double started) {
    if (ticks && units > 0) {
      work.dispatch_ticks = std::max(work.dispatch_ticks, *ticks * started / units);
    }
  };
  dispatch(table_.roofs.hvx_dispatch_ticks, hvx_units_,
           figure([](const Cell& cell) { return cell.hvx_spans; }));
  dispatch(table_.roofs.hmx_dispatch_ticks, hmx_units_,
           figure([](const Cell& cell) { return cell.hmx_spans; }));
  dispatch(table_.roofs.dma_dispatch_ticks, dma_units_,
           figure([](const Cell& cell) { return cell.dma_spans; }));
}

}  // namespace npuscope::analysis
