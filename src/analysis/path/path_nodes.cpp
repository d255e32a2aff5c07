#include "analysis/path/path_nodes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::int64_t longest_timeline = std::int64_t{1} << 52;  // whole numbers as doubles

// Slices nest: at any time the innermost has the unit, and what is left of the outer ones are
// pieces between. A slice that ends after the one it began in is beside it, both whole from there.
// add(place, kind, time, after_barrier) for each piece, the first and last of those of a span too.
template <class Add>
void for_each_piece(std::span<const SpanOfUnit> spans, const Add& add) {
  struct Open {
    std::size_t place;
    std::int64_t end;
    std::int64_t free;  // up to here it has been made into nodes
    bool has_inner, after_barrier;
  };
  std::vector<Open> open;
  bool barrier = false;
  const auto piece = [&](const Open& of, std::int64_t until) {
    if (until > of.free) add(of.place, NodeKind::execution, Interval{of.free, until}, false);
  };
  const auto close = [&] {
    const Open last = open.back();
    open.pop_back();
    if (last.has_inner) {
      piece(last, last.end);
      add(last.place, NodeKind::mark, Interval{last.end, last.end}, false);
    } else {
      add(last.place, NodeKind::execution, Interval{last.free, last.end}, last.after_barrier);
    }
    if (!open.empty()) open.back().free = std::max(open.back().free, last.end);
  };
  for (std::size_t place = 0; place < spans.size(); ++place) {
    const auto [begin, end] = spans[place].interval();
    const SpanKind kind = spans[place].kind;
    if (kind == SpanKind::dma_wait) add(place, NodeKind::mark, Interval{end, end}, false);
    barrier = barrier || kind == SpanKind::barrier;
    const bool waits = kind == SpanKind::wait;
    if (!waits && (role_of(kind) != Role::work || kind == SpanKind::transfer)) continue;
    while (!open.empty() && (open.back().end <= begin || open.back().end < end)) close();
    if (!open.empty()) {
      Open& outer = open.back();
      if (!outer.has_inner) {
        add(outer.place, NodeKind::mark, Interval{outer.free, outer.free}, outer.after_barrier);
      }
      outer.has_inner = true;
      piece(outer, begin);
      outer.free = std::max(outer.free, waits ? end : begin);  // held up, it does nothing
    }
    if (waits) continue;
    open.push_back({place, end, begin, false, std::exchange(barrier, false)});
  }
  while (!open.empty()) close();
}

// What comes in few runs that are sorted already, as from few units.
template <class Before>
void merge_runs(std::span<Execution> all, const Before& before) {
  std::vector<std::ptrdiff_t> runs{0};
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (before(all[i], all[i - 1])) runs.push_back(std::ptrdiff_t(i));
  }
  runs.push_back(std::ptrdiff_t(all.size()));
  while (runs.size() > 2) {
    std::vector<std::ptrdiff_t> merged;
    std::size_t i = 0;
    for (; i + 2 < runs.size(); i += 2) {
      std::inplace_merge(all.begin() + runs[i], all.begin() + runs[i + 1],
                         all.begin() + runs[i + 2], before);
      merged.push_back(runs[i]);
    }
    merged.insert(merged.end(), runs.begin() + std::ptrdiff_t(i), runs.end());
    runs = std::move(merged);
  }
}

}  // namespace

void PathNodes::Extent::take(Interval other, bool other_works) {
  interval =
      any ? Interval{std::min(interval.begin, other.begin), std::max(interval.end, other.end)}
          : other;
  any = true;
  works = works || other_works;
}

void PathNodes::Extent::take(const Extent& other) {
  if (other.any) take(other.interval, other.works);
}

void PathNodes::Extent::take(const Spans& spans, std::size_t row) {
  const SpanKind kind = spans.kind[row];
  if (role_of(kind) == Role::overlay || kind == SpanKind::activation) return;
  take(interval_of(spans, row), role_of(kind) == Role::work);
}

// Those that have work, by number.
std::vector<PathNodes::Inference> PathNodes::inferences_of(const Spans& spans) {
  const std::vector<RowRange> parts = ranges_of(spans.size());
  std::vector<std::vector<Inference>> runs_of(parts.size());  // rows of one follow one another
  parallel_for(parts.size(), [&](std::size_t part) {
    std::vector<Inference>& runs = runs_of[part];
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      if (runs.empty() || spans.instance[row] != runs.back().number) {
        runs.push_back({spans.instance[row], {}});
      }
      runs.back().extent.take(spans, row);
    }
  });
  std::vector<Inference> runs;
  for (const auto& some : runs_of) runs.insert(runs.end(), some.begin(), some.end());
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.number < b.number; });
  std::vector<Inference> inferences;
  for (const Inference& run : runs) {
    if (run.number == every_instance || !run.extent.any) continue;
    if (inferences.empty() || inferences.back().number != run.number)
      inferences.push_back({run.number, {}});
    inferences.back().extent.take(run.extent);
  }
  std::erase_if(inferences, [](const Inference& each) { return !each.extent.works; });
  return inferences;
}

bool PathNodes::is_work(std::uint32_t row) const {
  return role_of(profile_.spans.kind[row]) == Role::work;
}

bool PathNodes::is_selected(std::size_t row) const {
  const Spans& spans = profile_.spans;
  const Role role = role_of(spans.kind[row]);
  if (role != Role::work && role != Role::wait) return false;
  return !graph_.basis.instance || spans.instance[row] == *graph_.basis.instance;
}

// Fills in how long the steady ones are, and gives the place of the one nearest their median.
std::size_t PathNodes::steady_of(const std::vector<Inference>& inferences) {
  std::vector<std::int64_t> lengths;
  for (const Inference& each : inferences) lengths.push_back(length_of(each.extent.interval));
  const std::vector<double> walls(lengths.begin(), lengths.end());
  PathBasis& basis = graph_.basis;
  basis.instances = std::uint32_t(inferences.size());
  basis.median_wall = spread_of(walls).median_of_rest;
  const std::ptrdiff_t first = walls.size() > 1 ? 1 : 0;
  const auto [min, max] = std::minmax_element(lengths.begin() + first, lengths.end());
  basis.min_wall = *min;
  basis.max_wall = *max;
  const auto nearest =
      std::min_element(walls.begin() + first, walls.end(), [&](double a, double b) {
        return std::abs(a - basis.median_wall) < std::abs(b - basis.median_wall);
      });
  return std::size_t(nearest - walls.begin());
}

Result<Interval> PathNodes::whole_timeline() const {
  const Spans& spans = profile_.spans;
  const std::vector<RowRange> parts = ranges_of(spans.size());
  std::vector<Extent> extents(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    Extent extent;
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      extent.take(spans, row);
    }
    extents[part] = extent;
  });
  Extent all;
  for (const Extent& extent : extents) all.take(extent);
  if (all.works && length_of(all.interval) > 0) return all.interval;
  return no_executions();
}

tl::unexpected<Error> PathNodes::no_executions() const {
  const auto& files = profile_.provenance.files;
  return input_error("{}: has no executions with times, so no path; give a profile with a timeline",
                     files.empty() ? "the profile" : files.front());
}

Result<Interval> PathNodes::choose_timeline(std::optional<std::uint32_t> instance) {
  const Spans& spans = profile_.spans;
  if (spans.instance.size() != spans.size() || spans.size() == 0) {
    if (instance) {
      return usage_error("the profile does not tell inferences apart; leave out --inference");
    }
    return whole_timeline();
  }
  const std::vector<Inference> inferences = inferences_of(spans);
  if (inferences.empty()) return no_executions();
  auto chosen = inferences.begin() + std::ptrdiff_t(steady_of(inferences));
  if (instance) {
    chosen = std::find_if(inferences.begin(), inferences.end(),
                          [&](const Inference& each) { return each.number == *instance; });
  }
  if (chosen == inferences.end()) {
    return usage_error("no inference {}: the profile has {}, numbered {} to {}", *instance,
                       inferences.size(), inferences.front().number, inferences.back().number);
  }
  graph_.basis.instance = chosen->number;
  return chosen->extent.interval;
}

Column<std::uint32_t> PathNodes::selected_rows() const {
  const std::vector<RowRange> parts = ranges_of(profile_.spans.size());
  std::vector<std::size_t> next(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      next[part] += is_selected(row) ? 1 : 0;
    }
  });
  std::size_t count = 0;
  for (std::size_t& each : next) count += std::exchange(each, count);
  Column<std::uint32_t> rows;
  rows.resize(count);
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      if (is_selected(row)) rows[next[part]++] = std::uint32_t(row);
    }
  });
  return rows;
}

void PathNodes::note_waits(std::span<const std::uint32_t> rows) {
  const Spans& spans = profile_.spans;
  for (const std::uint32_t row : rows) {
    if (spans.kind[row] == SpanKind::barrier) barriers_.push_back(row);
    if (spans.kind[row] != SpanKind::dma_wait) continue;
    dma_waits_ += 1;
    min_dma_wait_ = std::min(min_dma_wait_, length_of(interval_of(spans, row)));
  }
}

Status PathNodes::select(std::optional<std::uint32_t> instance) {
  const Result<Interval> timeline = choose_timeline(instance);
  if (!timeline) return tl::unexpected(timeline.error());
  if (length_of(*timeline) > longest_timeline) {
    return usage_error(
        "the times of the profile lie more than 2^52 ticks apart; choose a part with --from and "
        "--until");
  }
  graph_.timeline = *timeline;
  const Column<std::uint32_t> rows = selected_rows();
  note_waits(rows);
  graph_.by_unit = by_unit_ = std::make_shared<const SpansByUnit>(profile_, rows);
  return {};
}

void PathNodes::add() {
  const auto spans = by_unit_->all();
  const bool has_transfers = std::any_of(spans.begin(), spans.end(), [](const SpanOfUnit& span) {
    return span.kind == SpanKind::transfer;
  });
  if (has_transfers) {
    find_executions();
    find_issues();
  }
  make_room();
  parallel_for(by_unit_->groups(), [&](std::size_t unit) { write_unit(unit); });
  if (has_transfers || dma_waits_ > 0 || !profile_.flows.empty()) map_rows();
  if (has_transfers) {
    for (std::size_t unit = 0; unit < by_unit_->groups(); ++unit) find_transfers(unit);
  }
  find_executions();
}

// By op, and those of each by start.
void PathNodes::find_executions() {
  const std::size_t ops = profile_.ops.size();
  const auto spans = by_unit_->all();
  CountingSort by_op(spans.size(), ops, [&](std::size_t place) {
    const SpanOfUnit& span = spans[place];
    const bool counts = role_of(span.kind) == Role::work || span.kind == SpanKind::dma_wait;
    return counts && index_of(span.op) < ops ? index_of(span.op) : counting_sort_leaves_out;
  });
  first_of_op_ = by_op.first();
  executions_.resize(by_op.size());
  by_op.place([&](std::size_t place, std::uint32_t at) {
    const SpanOfUnit& span = spans[place];
    const auto [begin, end] = interval(span);
    const NodeRange nodes = of_place_.empty() ? no_nodes : of_place_[place];
    executions_[at] = {begin,       end,         span.row,
                       nodes.first, nodes.last,  profile_.spans.unit[span.row],
                       span.kind,   Engine::none};
  });
  parallel_for(ops, [&](std::size_t op) { sort_executions(op); });
}

void PathNodes::sort_executions(std::size_t op) {
  const auto of_this =
      std::span(executions_).subspan(first_of_op_[op], first_of_op_[op + 1] - first_of_op_[op]);
  merge_runs(of_this, [](const Execution& a, const Execution& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return a.row < b.row;
  });
  for (Execution& each : of_this) {
    each.queue = queue_of(engine_of(profile_, OpId(std::uint32_t(op)), each.unit, each.kind));
    const bool moved = each.is_transfer() || each.is_dma_wait();
    if (moved && each.first_node != PathGraph::none) each.begin = graph_.start[each.first_node];
  }
}

// Of the op's executions, the last that began no later than the transfer.
void PathNodes::find_issues() {
  issue_of_.assign(profile_.spans.size(), PathGraph::none);
  parallel_for(profile_.ops.size(), [&](std::size_t op) {
    std::uint32_t issue = PathGraph::none;
    const auto rows = of_op(op);
    for (std::size_t i = 0, next = 0; i < rows.size(); ++i) {
      if (!rows[i].is_transfer()) continue;
      for (; next < rows.size() && rows[next].begin <= rows[i].begin; ++next) {
        if (!rows[next].is_dma_wait() && !rows[next].is_transfer()) issue = rows[next].row;
      }
      issue_of_[rows[i].row] = issue;
    }
  });
}

// Where the nodes of each unit go follows from how many there are.
void PathNodes::make_room() {
  const std::size_t units = by_unit_->groups();
  std::vector<std::uint32_t> counts(units, 0);
  parallel_for(units, [&](std::size_t unit) {
    std::uint32_t count = 0;
    for_each_piece(spans_of(unit), [&](auto&&...) { count += 1; });
    for (const SpanOfUnit& span : spans_of(unit)) {
      count += span.kind == SpanKind::transfer || is_long_wait(span) ? 1 : 0;
    }
    counts[unit] = count;
  });
  first_node_of_unit_.assign(1, 0);
  for (const std::uint32_t count : counts) {
    first_node_of_unit_.push_back(first_node_of_unit_.back() + count);
  }
  const std::size_t nodes = first_node_of_unit_.back();
  graph_.row.resize(nodes);
  graph_.kind.resize(nodes);
  graph_.start.resize(nodes);
  graph_.end.resize(nodes);
  graph_.unit_before.resize(nodes);
  graph_.after_barrier.resize(nodes);
  of_place_.resize(by_unit_->all().size());
}

void PathNodes::write(std::uint32_t node, std::uint32_t row, NodeKind kind, Interval time,
                      bool after_barrier) {
  graph_.row[node] = row;
  graph_.kind[node] = kind;
  graph_.start[node] = time.begin;
  graph_.end[node] = time.end;
  graph_.unit_before[node] = PathGraph::none;
  graph_.after_barrier[node] = after_barrier;
}

void PathNodes::write_unit(std::size_t unit) {
  const auto spans = spans_of(unit);
  NodeRange* const of_span = of_place_.data() + by_unit_->place_of(unit);
  std::fill(of_span, of_span + spans.size(), no_nodes);
  const std::uint32_t first = first_node_of_unit_[unit];
  const std::int64_t origin = graph_.timeline.begin;
  std::uint32_t node = first;
  for_each_piece(spans, [&](std::size_t place, NodeKind kind, Interval time, bool after_barrier) {
    write(node, spans[place].row, kind, {time.begin - origin, time.end - origin}, after_barrier);
    NodeRange& nodes = of_span[place];
    nodes = {nodes.first == PathGraph::none ? node : nodes.first, node};
    node += 1;
  });
  link_in_order(first, node);
  write_landings(unit, write_transfers(unit, node));
}

// An engine serves transfers in the order of their issue: one that was issued before the one before
// it was complete has waited for it. One that overtakes another is on a channel of its own.
std::uint32_t PathNodes::write_transfers(std::size_t unit, std::uint32_t node) {
  const auto spans = spans_of(unit);
  const std::uint32_t first = node;
  std::int64_t complete = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (spans[i].kind != SpanKind::transfer) continue;
    Interval time = interval(spans[i]);
    if (const std::uint32_t issue = issue_of(spans[i].row); issue != PathGraph::none) {
      const std::int64_t issued = interval_of(profile_.spans, issue).end - graph_.timeline.begin;
      time.begin = std::clamp(issued, time.begin, time.end);
    }
    if (complete <= time.end) time.begin = std::max(time.begin, complete);
    complete = std::max(complete, time.end);
    write(node, spans[i].row, NodeKind::execution, time, false);
    of_place_[by_unit_->place_of(unit) + i] = {node, node};
    node += 1;
  }
  link_in_order(first, node);
  return node;
}

// The transfer of a long wait was complete when the wait was over; its mark comes before that of
// the wait itself, which is on the unit.
std::uint32_t PathNodes::write_landings(std::size_t unit, std::uint32_t node) {
  const auto spans = spans_of(unit);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!is_long_wait(spans[i])) continue;
    const std::int64_t over = interval(spans[i]).end;
    write(node, spans[i].row, NodeKind::landing, {over, over}, false);
    of_place_[by_unit_->place_of(unit) + i].first = node;
    node += 1;
  }
  return node;
}

// Those of the unit, by end.
void PathNodes::find_transfers(std::size_t unit) {
  const auto first = std::ptrdiff_t(transfers_.size());
  for (const SpanOfUnit& span : spans_of(unit)) {
    if (span.kind == SpanKind::transfer) transfers_.push_back(span.row);
  }
  const auto node_of = [&](std::uint32_t row) { return of_row_[row].first; };
  std::sort(transfers_.begin() + first, transfers_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t end_a = graph_.end[node_of(a)], end_b = graph_.end[node_of(b)];
    return end_a != end_b ? end_a < end_b : node_of(a) < node_of(b);
  });
}

void PathNodes::map_rows() {
  of_row_.assign(profile_.spans.size(), no_nodes);
  const auto spans = by_unit_->all();
  for (std::size_t place = 0; place < spans.size(); ++place) {
    of_row_[spans[place].row] = of_place_[place];
  }
}

// The node before each on its unit: of those that ended when it started, the last to end.
void PathNodes::link_in_order(std::uint32_t first, std::uint32_t last) {
  bool in_order = true;
  for (std::uint32_t node = first + 1; node < last; ++node) {
    in_order = in_order && graph_.end[node - 1] <= graph_.start[node];
    graph_.unit_before[node] = node - 1;
  }
  if (in_order) return;
  std::vector<std::uint32_t> by_start(last - first);
  std::iota(by_start.begin(), by_start.end(), first);
  std::stable_sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (graph_.start[a] != graph_.start[b]) return graph_.start[a] < graph_.start[b];
    return graph_.end[a] == graph_.start[a] && graph_.end[b] > graph_.start[b];
  });
  std::vector<std::uint32_t> rank(last - first), by_end = by_start;
  for (std::uint32_t i = 0; i < by_start.size(); ++i) rank[by_start[i] - first] = i;
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return graph_.end[a] < graph_.end[b]; });
  std::size_t ended = 0;
  std::uint32_t latest = PathGraph::none;
  for (const std::uint32_t node : by_start) {
    for (; ended < by_end.size(); ++ended) {
      const std::uint32_t other = by_end[ended];
      if (graph_.end[other] > graph_.start[node] || rank[other - first] >= rank[node - first])
        break;
      latest = other;
    }
    graph_.unit_before[node] = latest;
  }
}

}  // namespace npuscope::analysis
