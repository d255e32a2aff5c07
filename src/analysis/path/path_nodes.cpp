#include "analysis/path/path_nodes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "analysis/inference_times.hpp"
#include "analysis/path/path_graph.hpp"
#include "base/counting_sort.hpp"
#include "base/parallel.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::int64_t longest_timeline = std::int64_t{1} << 52;  // whole numbers as doubles

// Slices nest: at any time the innermost has the unit, and what is left of the outer ones are
// pieces between. A slice that ends after the one it began in is beside it, both whole from there.
// add(place, kind, time, after_barrier) for each piece, the first and last of those of a span too.
template <class Add>
void for_each_piece(SpansOfUnit spans, std::int64_t tolerance, bool has_dma_waits, const Add& add) {
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
      const std::int64_t over = std::max(last.end, last.free);  // what is inside may end later
      add(last.place, NodeKind::mark, Interval{over, over}, false);
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
    while (!open.empty() &&
           (open.back().end <= begin || !encloses(open.back().end, {begin, end}, tolerance))) {
      close();
    }
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
    const bool is_free = place + 1 == spans.size() || spans[place + 1].begin >= end;
    if (is_free && open.empty() && !has_dma_waits) {  // most: nothing is nested in it
      add(place, NodeKind::execution, Interval{begin, end}, std::exchange(barrier, false));
      continue;
    }
    open.push_back({place, end, begin, false, std::exchange(barrier, false)});
  }
  while (!open.empty()) close();
}

// By start, the longer first.
bool starts_before(Interval a, std::uint32_t row_of_a, Interval b, std::uint32_t row_of_b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  return a.end != b.end ? a.end > b.end : row_of_a < row_of_b;
}

}  // namespace

bool PathNodes::is_work(std::uint32_t row) const {
  return role_of(profile_.spans.kind[row]) == Role::work;
}

bool PathNodes::is_selected(std::size_t row) const {
  const Spans& spans = profile_.spans;
  const Role role = role_of(spans.kind[row]);
  if (role != Role::work && role != Role::wait) return false;
  return !graph_.basis.instance || spans.instance[row] == *graph_.basis.instance;
}

void PathNodes::select_rows(RowRange among, const PathBasics& known) {
  std::vector<RowRange> parts = ranges_of(among.last - among.first);
  for (RowRange& part : parts) part = {part.first + among.first, part.last + among.first};
  std::vector<std::size_t> next(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      next[part] += is_selected(row) ? 1 : 0;
    }
  });
  std::size_t count = 0;
  for (std::size_t& each : next) count += std::exchange(each, count);
  if (count == profile_.spans.size()) {
    by_unit_ = known.all_spans ? known.all_spans() : std::make_shared<const SpansByUnit>(profile_);
    is_shared_ = bool(known.all_spans);
    return;
  }
  Column<std::uint32_t> rows;
  rows.resize(count);
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
      if (is_selected(row)) rows[next[part]++] = std::uint32_t(row);
    }
  });
  by_unit_ = std::make_shared<const SpansByUnit>(profile_, rows);
}

void PathNodes::note_kinds(RowRange among) {
  const Spans& spans = profile_.spans;
  for (std::size_t row = among.first; row < among.last; ++row) {
    const SpanKind kind = spans.kind[row];
    const bool waits =
        kind == SpanKind::barrier || kind == SpanKind::dma_wait || kind == SpanKind::wait;
    if ((!waits && kind != SpanKind::transfer) || !is_selected(row)) continue;
    has_transfers_ = has_transfers_ || kind == SpanKind::transfer;
    has_event_waits_ = has_event_waits_ || kind == SpanKind::wait;
    if (kind == SpanKind::barrier) barriers_.push_back(std::uint32_t(row));
    if (kind != SpanKind::dma_wait) continue;
    dma_waits_ += 1;
    min_dma_wait_ = std::min(min_dma_wait_, length_of(interval_of(spans, row)));
  }
}

Status PathNodes::select(std::optional<std::uint32_t> instance, const PathBasics& known) {
  const SpanExtents own = known.extents ? SpanExtents{} : extents_of(profile_);
  const SpanExtents& extents = known.extents ? *known.extents : own;
  TRY_AS(chosen, choose_timeline(profile_, extents, instance, graph_.basis));
  if (length_of(chosen->timeline) > longest_timeline) {
    return usage_error(
        "the times of the profile lie more than 2^52 ticks apart; choose a part with --from and "
        "--until");
  }
  graph_.timeline = chosen->timeline;
  select_rows(chosen->rows, known);
  note_kinds(chosen->rows);
  return {};
}

void PathNodes::add() {
  if (has_transfers_) find_issues();
  if (!add_one_by_one()) add_pieces();
  if (has_transfers_) {
    for (std::size_t unit = 0; unit < by_unit_->groups(); ++unit) find_transfers(unit);
  }
  find_runs();
}

// Of the op's executions, the last that began no later than the transfer.
void PathNodes::find_issues() {
  const std::size_t ops = profile_.ops.size();
  const auto spans = by_unit_->all();
  Grouped<Column<std::uint32_t>> by_op(spans.size(), ops, [&](std::size_t place) {
    const SpanOfUnit& span = spans[place];
    const bool counts = role_of(span.kind) == Role::work && index_of(span.op) < ops;
    return counts ? index_of(span.op) : counting_sort_leaves_out;
  });
  issue_of_.assign(profile_.spans.size(), PathGraph::none);
  parallel_for(ops, [&](std::size_t op) {
    const auto of_op = by_op.of(op);
    std::sort(of_op.begin(), of_op.end(), [&](std::uint32_t a, std::uint32_t b) {
      return starts_before(spans[a].interval(), spans[a].row, spans[b].interval(), spans[b].row);
    });
    std::uint32_t issue = PathGraph::none;
    for (std::size_t i = 0, next = 0; i < of_op.size(); ++i) {
      const SpanOfUnit& span = spans[of_op[i]];
      if (span.kind != SpanKind::transfer) continue;
      for (; next < of_op.size() && spans[of_op[next]].begin <= span.begin; ++next) {
        if (spans[of_op[next]].kind != SpanKind::transfer) issue = spans[of_op[next]].row;
      }
      issue_of_[span.row] = issue;
    }
  });
}

// Where nothing is nested and nothing held the work up, each span of work is a node: in the order
// of time at once, out of its span.
bool PathNodes::add_one_by_one() {
  const bool holds_up = has_transfers_ || has_dma_waits() || has_event_waits_ || !barriers_.empty();
  if (holds_up || !profile_.flows.empty()) return false;
  const std::size_t units = by_unit_->groups();
  std::vector<std::uint32_t> counts(units, 0);
  std::vector<char> one_by_one(units, true);
  parallel_for(units, [&](std::size_t unit) {
    std::int64_t free = std::numeric_limits<std::int64_t>::min();
    for (const SpanOfUnit& span : spans_of(unit)) {
      if (role_of(span.kind) != Role::work) continue;
      counts[unit] += 1;
      one_by_one[unit] = one_by_one[unit] && span.begin >= free;
      free = span.end;
    }
  });
  if (!std::ranges::all_of(one_by_one, std::identity())) return false;
  is_plain_ = true;
  make_room(counts);
  graph_.unit.resize(graph_.size());
  Column<std::uint32_t> places;  // by sequence, of their spans
  Column<std::int64_t> starts;
  places.resize(graph_.size());
  starts.resize(graph_.size());
  const auto spans = by_unit_->all();
  parallel_for(units, [&](std::size_t unit) {
    std::uint32_t sequence = first_node_of_unit_[unit];
    const std::size_t last = by_unit_->place_of(unit) + spans_of(unit).size();
    for (std::size_t place = by_unit_->place_of(unit); place < last; ++place) {
      if (role_of(spans[place].kind) != Role::work) continue;
      starts[sequence] = interval(spans[place]).begin;
      places[sequence++] = std::uint32_t(place);
    }
  });
  std::vector<NodeRange> of_slices(max_slices(graph_.size(), units) * units, no_nodes);  // by unit
  take_by_start(starts, first_node_of_unit_,
                [&](std::size_t slice, std::uint32_t node, std::span<const NodeStart> nodes) {
                  NodeRange* const of_units = &of_slices[slice * units];
                  for (const NodeStart& each : nodes) {
                    const SpanOfUnit span = spans[places[each.sequence]];
                    write(node, each.unit, span, NodeKind::execution, interval(span), false);
                    graph_.unit[node] = each.unit;
                    NodeRange& of_unit = of_units[each.unit];
                    if (of_unit.first == PathGraph::none) of_unit.first = node;
                    graph_.unit_before[node] = std::exchange(of_unit.last, node);
                    node += 1;
                  }
                });
  std::vector<std::uint32_t> before(units, PathGraph::none);
  for (std::size_t i = 0; i < of_slices.size(); ++i) {
    if (of_slices[i].first == PathGraph::none) continue;
    graph_.unit_before[of_slices[i].first] = std::exchange(before[i % units], of_slices[i].last);
  }
  if (!is_shared_) by_unit_ = std::make_shared<const SpansByUnit>(by_unit_->of(Role::wait));
  return true;
}

// The nodes of a unit are in the order of their spans where it was not made.
void PathNodes::restore_order() {
  if (!order_.node_of.empty()) return;
  CountingSort by_unit(count(), by_unit_->groups(),
                       [&](std::size_t node) { return graph_.unit[node]; });
  by_unit.place_items(order_.node_of);
}

void PathNodes::add_pieces() {
  count_pieces();
  parallel_for(by_unit_->groups(), [&](std::size_t unit) { write_unit(unit); });
  order_ = order_by_start(graph_, first_node_of_unit_);
  graph_.renumber(order_.sequence_of, order_.node_of);
  reorder(queues_, order_.sequence_of);
  map_rows();
}

// Where the nodes of each unit go follows from how many there are.
void PathNodes::make_room(const std::vector<std::uint32_t>& counts) {
  first_node_of_unit_.assign(1, 0);
  for (const std::uint32_t count : counts) {
    first_node_of_unit_.push_back(first_node_of_unit_.back() + count);
  }
  const std::size_t nodes = first_node_of_unit_.back();
  graph_.for_columns([&](auto& column) { column.resize(nodes); });
  graph_.unit_before.resize(nodes);
  queues_.resize(nodes);
}

void PathNodes::count_pieces() {
  const std::size_t units = by_unit_->groups();
  std::vector<std::uint32_t> counts(units, 0);
  std::vector<char> has_several(units, false);  // nodes of a span
  parallel_for(units, [&](std::size_t unit) {
    std::uint32_t count = 0;
    for_each_piece(spans_of(unit), nesting_tolerance(profile_), has_dma_waits(),
                   [&](std::size_t, NodeKind kind, auto&&...) {
                     count += 1;
                     if (kind == NodeKind::mark) has_several[unit] = true;
                   });
    if (has_transfers_ || has_dma_waits()) {
      for (const SpanOfUnit& span : spans_of(unit)) {
        count += span.kind == SpanKind::transfer || is_long_wait(span) ? 1 : 0;
      }
    }
    counts[unit] = count;
  });
  make_room(counts);
  is_plain_ = !has_transfers_ && !has_dma_waits() &&
              std::find(has_several.begin(), has_several.end(), true) == has_several.end();
  if (!is_plain_ || !profile_.flows.empty()) of_row_.assign(profile_.spans.size(), no_nodes);
}

void PathNodes::write(std::uint32_t node, std::size_t unit, const SpanOfUnit& span, NodeKind kind,
                      Interval time, bool after_barrier) {
  const std::size_t ops = profile_.ops.size(), op = std::min<std::size_t>(index_of(span.op), ops);
  graph_.row[node] = span.row;
  graph_.op[node] = std::uint32_t(op);
  graph_.kind[node] = kind;
  graph_.start[node] = time.begin;
  graph_.end[node] = time.end;
  graph_.unit_before[node] = PathGraph::none;
  graph_.after_barrier[node] = after_barrier;
  queues_[node] = queue_of(engines_.of(span.op, UnitId(std::uint32_t(unit)), span.kind));
}

void PathNodes::write_unit(std::size_t unit) {
  const auto spans = spans_of(unit);
  const std::uint32_t first = first_node_of_unit_[unit];
  const std::int64_t origin = graph_.timeline.begin;
  std::uint32_t node = first;
  const auto add = [&](std::size_t place, NodeKind kind, Interval time, bool after_barrier) {
    const Interval since{time.begin - origin, time.end - origin};
    write(node, unit, spans[place], kind, since, after_barrier);
    if (!of_row_.empty()) {
      NodeRange& nodes = of_row_[spans[place].row];
      nodes = {nodes.first == PathGraph::none ? node : nodes.first, node};
    }
    node += 1;
  };
  for_each_piece(spans, nesting_tolerance(profile_), has_dma_waits(), add);
  link_in_order(first, node);
  if (has_transfers_) node = write_transfers(unit, node);
  if (has_dma_waits()) write_landings(unit, node);
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
    write(node, unit, spans[i], NodeKind::execution, time, false);
    of_row_[spans[i].row] = {node, node};
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
    write(node, unit, spans[i], NodeKind::landing, {over, over}, false);
    of_row_[spans[i].row].first = node;
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
    if (end_a != end_b) return end_a < end_b;
    return sequence_of(node_of(a)) < sequence_of(node_of(b));
  });
}

// The rows' nodes by their numbers after all are in order.
void PathNodes::map_rows() {
  for (NodeRange& nodes : of_row_) {
    if (nodes.first == PathGraph::none) continue;
    nodes = {order_.node_of[nodes.first], order_.node_of[nodes.last]};
  }
}

bool PathNodes::is_before(const Execution& first, const Execution& other) const {
  if (is_plain_) {
    return starts_before({first.begin, first.end}, first.row, {other.begin, other.end}, other.row);
  }
  return starts_before(interval_of(profile_.spans, first.row), first.row,
                       interval_of(profile_.spans, other.row), other.row);
}

void PathNodes::find_runs() {
  const std::size_t ops = profile_.ops.size();
  const std::vector<RowRange> parts = ranges_of(count(), std::max<std::size_t>(65'536, 8 * ops));
  std::vector<std::vector<OpRun>> of_parts(parts.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    of_parts[part].resize(ops);
    for (std::size_t node = parts[part].first; node < parts[part].last; ++node) {
      const std::size_t op = graph_.op_of(std::uint32_t(node));
      if (op >= ops || !is_first(std::uint32_t(node))) continue;
      take(of_parts[part][op], execution(std::uint32_t(node)));
    }
  });
  runs_ = std::move(of_parts.front());
  for (std::size_t op = 0; op < ops; ++op) {
    for (std::size_t part = 1; part < parts.size(); ++part) take(runs_[op], of_parts[part][op]);
    if (runs_[op].works) runs_[op].begin = graph_.start[runs_[op].first];
  }
}

void PathNodes::take(OpRun& run, const Execution& execution) const {
  if (run.works && is_plain_) {  // most
    run.end = std::max(run.end, execution.end);
    run.first_end = std::min(run.first_end, execution.end);
    run.last_begin = execution.begin;
    run.executions += 1;
    run.spreads = run.spreads || run.unit != execution.unit;
    return;
  }
  const bool is_transfer = !is_plain_ && execution.is_transfer();
  OpRun one;
  one.end = one.first_end = execution.end;
  one.last_begin = is_consumer(execution) ? execution.begin : -1;
  one.first = execution.first_node;
  one.executions = 1;
  one.unit = execution.unit;
  one.works = true;
  one.transfers = is_transfer;
  take(run, one);
}

// Of the nodes of `other` all come after those of `run`.
void PathNodes::take(OpRun& run, const OpRun& other) const {
  if (!other.works) return;
  if (!run.works) {
    run = other;
    return;
  }
  run.end = std::max(run.end, other.end);
  run.last_begin = std::max(run.last_begin, other.last_begin);
  run.executions += other.executions;
  run.spreads = run.spreads || other.spreads || run.unit != other.unit;
  if (run.transfers == other.transfers) {
    run.first_end = std::min(run.first_end, other.first_end);
  } else if (other.transfers) {
    run.first_end = other.first_end;
  }
  if (!is_plain_) {  // where transfers follow from its executions, it begins with the first of
                     // these
    const Execution first = execution(run.first), second = execution(other.first);
    const bool is_later = first.is_transfer() != second.is_transfer() ? first.is_transfer()
                                                                      : is_before(second, first);
    if (is_later) run.first = other.first;
  }
  run.transfers = run.transfers || other.transfers;
}

// By op, and those of each by start.
void PathNodes::find_executions() {
  const std::size_t ops = profile_.ops.size();
  executions_ = Grouped<Column<std::uint32_t>>(count(), ops, [&](std::size_t node) {
    const std::uint32_t op = graph_.op[node];
    const bool counts = op < ops && is_first(std::uint32_t(node));
    return counts ? op : counting_sort_leaves_out;
  });
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return is_before(execution(a), execution(b));
  };
  parallel_for(ops, [&](std::size_t op) {
    const auto of_op = executions_.of(op);
    if (!std::ranges::is_sorted(of_op, before)) std::ranges::sort(of_op, before);
  });
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
