// Waits: long ones for data, of hosts for their devices, for transfers of DMA engines.
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/path/path_links.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

// Long waits for data: after which transfer, and which other threads waited with them.

// A long wait is for the transfer of the ops that it depends on, or else of the op of its name, as
// HTPs call both alike. Where neither is known, it is only a wait.
void PathLinks::link_landings() {
  if (!nodes_.has_dma_waits()) return;
  std::vector<std::uint32_t> unknown;  // ops
  for (std::uint32_t op = 0; op < runs_.size(); ++op) {
    bool waits = false;
    for (const Execution& each : nodes_.of_op(op)) {
      if (!nodes_.is_long_wait(each.kind, profile_.spans.duration[each.row])) continue;
      waits = true;
      if (has_edge_in_[op]) add_landing(each.row);
    }
    if (waits && !has_edge_in_[op]) unknown.push_back(op);
  }
  if (unknown.empty()) return;
  const auto key = [&](std::uint32_t op) {
    const Op& of = profile_.ops[op];
    return std::tuple(of.name, of.kind, of.node);
  };
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
  std::vector<std::uint32_t> all(runs_.size());
  std::iota(all.begin(), all.end(), 0u);
  std::stable_sort(all.begin(), all.end(), before);
  std::stable_sort(unknown.begin(), unknown.end(), before);
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    if (i > 0 && key(unknown[i]) == key(unknown[i - 1])) continue;
    const auto [first, last] = std::equal_range(all.begin(), all.end(), unknown[i], before);
    link_named(std::span(first, last));
  }
}

// Each long wait of these ops after the last of their executions that had ended when it began, or
// after the first of all if that ended while it lasted.
void PathLinks::link_named(std::span<const std::uint32_t> ops) {
  std::vector<std::uint32_t> issues, waits;  // rows
  for (const std::uint32_t op : ops) {
    for (const Execution& each : nodes_.of_op(op)) {
      if (!each.is_dma_wait()) issues.push_back(each.row);
      const bool is_long = nodes_.is_long_wait(each.kind, profile_.spans.duration[each.row]);
      if (is_long && !has_edge_in_[op]) waits.push_back(each.row);
    }
  }
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.of_row(row).last]; };
  const auto begin_of = [&](std::uint32_t row) {
    return profile_.spans.start[row] - graph_.timeline.begin;
  };
  std::stable_sort(issues.begin(), issues.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return end_of(a) < end_of(b); });
  std::stable_sort(waits.begin(), waits.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return begin_of(a) < begin_of(b); });
  std::size_t ended = 0;
  for (const std::uint32_t row : waits) {
    while (ended < issues.size() && end_of(issues[ended]) <= begin_of(row)) ++ended;
    if (issues.empty()) continue;
    const std::uint32_t issue = issues[ended == 0 ? 0 : ended - 1];
    if (end_of(issue) > graph_.start[nodes_.of_row(row).first]) continue;
    add(nodes_.of_row(issue).last, nodes_.of_row(row).first, Reason::issue);
    add_landing(row);
  }
}

void PathLinks::add_landing(std::uint32_t row) {
  const auto [landing, wait] = nodes_.of_row(row);
  push(wait, {landing, Reason::dma_wait, 0, true, false});
  landed_.push_back(row);
}

// Of the threads that share the work of an op one alone records the wait for its data; the others
// begin when it does.
void PathLinks::link_peers() {
  std::sort(landed_.begin(), landed_.end());
  std::vector<bool> waits(profile_.units.size(), false);
  for (const std::uint32_t row : landed_) {
    const std::size_t unit = index_of(profile_.spans.unit[row]);
    if (unit < waits.size()) waits[unit] = true;
  }
  for (std::uint32_t unit = 0; unit < waits.size(); ++unit) {
    if (!waits[unit]) continue;
    std::uint32_t wait = PathGraph::none;
    for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(unit))) {
      if (span.kind == SpanKind::dma_wait) {
        const bool landed = std::binary_search(landed_.begin(), landed_.end(), span.row);
        wait = landed ? span.row : PathGraph::none;
      } else if (nodes_.is_work(span.row) && !nodes_.is_transfer(span.row)) {
        if (wait != PathGraph::none) link_peers_of(wait, span, UnitId(unit));
        wait = PathGraph::none;
      }
    }
  }
}

void PathLinks::link_peers_of(std::uint32_t wait, const SpanOfUnit& next, UnitId unit) {
  constexpr std::int64_t at_once = 100;  // ticks: threads wake one after the other
  constexpr int max_threads = 64;        // of a core, so that a forged trace costs no square
  const std::uint32_t landing = nodes_.of_row(wait).first;
  const std::int64_t over = graph_.end[landing];
  const std::int64_t begin = next.begin - graph_.timeline.begin;
  if (index_of(next.op) >= runs_.size() || begin < over || begin - over > at_once) return;
  const auto executions = nodes_.of_op(index_of(next.op));
  auto peer = std::ranges::lower_bound(executions, over, {},
                                       [](const Execution& each) { return each.begin; });
  const Unit& here = profile_.units[index_of(unit)];
  for (int looked_at = 0; looked_at < max_threads && peer != executions.end(); ++looked_at) {
    const Execution execution = *peer++;
    if (execution.begin - over > at_once) break;
    const std::size_t other = index_of(execution.unit);
    if (execution.unit == unit || execution.is_transfer() || execution.is_dma_wait()) continue;
    if (other >= profile_.units.size() || profile_.units[other].core != here.core ||
        profile_.units[other].device != here.device) {
      continue;
    }
    add(landing, execution.first_node, Reason::dma_wait);
  }
}

namespace {

// Waits of hosts for their devices, and of streams for events: what let the work after them go.
struct NodeTime {
  std::int64_t time;
  std::uint32_t sequence;
  std::uint32_t node;
  bool operator<(const NodeTime& other) const {
    return time != other.time ? time < other.time : sequence < other.sequence;
  }
};

// The last with a time no later than this one; none where there is none.
std::uint32_t last_until(const std::vector<NodeTime>& nodes, std::int64_t time) {
  const auto after =
      std::upper_bound(nodes.begin(), nodes.end(), time,
                       [](std::int64_t at, const NodeTime& each) { return at < each.time; });
  return after == nodes.begin() ? PathGraph::none : after[-1].node;
}

}  // namespace

void PathLinks::link_events() {
  if (!nodes_.has_event_waits()) return;
  const std::size_t units = nodes_.by_unit().groups();
  std::vector<std::vector<NodeTime>> ends(units), starts(units);
  std::vector<NodeTime> device_ends;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const auto [first, last] = nodes_.of_unit(unit);
    for (std::uint32_t sequence = first; sequence < last; ++sequence) {
      const std::uint32_t node = nodes_.node_at(sequence);
      ends[unit].push_back({graph_.end[node], sequence, node});
      starts[unit].push_back({graph_.start[node], sequence, node});
      if (is_of_device(domain_of(profile_, graph_.row[node])))
        device_ends.push_back(ends[unit].back());
    }
    std::sort(ends[unit].begin(), ends[unit].end());
    std::sort(starts[unit].begin(), starts[unit].end());
  }
  std::sort(device_ends.begin(), device_ends.end());
  std::map<std::uint32_t, std::uint32_t> raised_by;  // rows: of waits, what raised their events
  for (const Flow& flow : profile_.flows) {
    const std::size_t to = index_of(flow.to);
    const bool is_wait = to < profile_.spans.size() && profile_.spans.kind[to] == SpanKind::wait;
    if (is_wait && index_of(flow.from) < profile_.spans.size()) {
      raised_by[std::uint32_t(to)] = index_of(flow.from);
    }
  }
  const auto since_begin = [&](std::int64_t time) { return time - graph_.timeline.begin; };
  const auto source_of = [&](const SpanOfUnit& wait, bool by_host) -> std::uint32_t {
    if (const auto event = raised_by.find(wait.row); event != raised_by.end()) {
      const std::size_t unit = index_of(profile_.spans.unit[event->second]);
      if (unit >= units) return PathGraph::none;
      return last_until(ends[unit], since_begin(interval_of(profile_.spans, event->second).end));
    }
    return by_host ? last_until(device_ends, since_begin(wait.end)) : PathGraph::none;
  };
  for (std::size_t unit = 0; unit + 1 < units; ++unit) {
    for (const SpanOfUnit& wait : nodes_.by_unit().spans_of(UnitId(std::uint32_t(unit)))) {
      if (wait.kind != SpanKind::wait) continue;
      const auto next = std::lower_bound(starts[unit].begin(), starts[unit].end(),
                                         NodeTime{since_begin(wait.end), 0, 0});
      if (next == starts[unit].end()) continue;
      const bool by_host = domain_of(profile_, graph_.row[next->node]) == Domain::host;
      const std::uint32_t source = source_of(wait, by_host);
      const bool held = source != PathGraph::none && graph_.end[source] >= since_begin(wait.begin);
      if (held && graph_.end[source] <= graph_.start[next->node]) {
        add(source, next->node, Reason::order);
      }
    }
  }
}

// Transfers of DMA engines: after what they were issued, and who waits until they drain.

void PathLinks::link_transfers() {
  const auto& transfers = nodes_.transfers();
  for (std::size_t first = 0; first < transfers.size();) {
    std::size_t last = first;
    const std::size_t unit = graph_.unit_of(nodes_.of_row(transfers[first]).first);
    while (last < transfers.size() &&
           graph_.unit_of(nodes_.of_row(transfers[last]).first) == unit) {
      ++last;
    }
    link_engine(std::span(transfers).subspan(first, last - first));
    first = last;
  }
}

// `transfers` of one engine, by end.
void PathLinks::link_engine(std::span<const std::uint32_t> transfers) {
  const auto end_of = [&](std::uint32_t row) { return graph_.end[nodes_.of_row(row).last]; };
  struct Issue {
    std::uint32_t node;
    std::int64_t start;
  };
  std::vector<Issue> issues;
  UnitId issuer = UnitId::none;
  for (const std::uint32_t row : transfers) {
    const std::uint32_t issue = nodes_.issue_of(row);
    if (issue == PathGraph::none) continue;
    issuer = profile_.spans.unit[issue];
    const std::uint32_t last = nodes_.of_row(issue).last, node = nodes_.of_row(row).first;
    if (graph_.end[last] <= graph_.start[node]) add(last, node, Reason::issue);
    issues.push_back({nodes_.of_row(issue).first, graph_.start[nodes_.of_row(issue).first]});
  }
  std::stable_sort(issues.begin(), issues.end(),
                   [](const Issue& a, const Issue& b) { return a.start < b.start; });
  std::vector<std::size_t> complete(issues.size());  // when each was issued
  std::size_t done = 0, max = 0;
  for (std::size_t i = 0; i < issues.size(); ++i) {
    while (done < transfers.size() && end_of(transfers[done]) <= issues[i].start) ++done;
    complete[i] = std::min(done, i);
    max = std::max(max, i - complete[i]);
  }
  const std::size_t depth = max + 1;
  for (std::size_t i = depth; i < issues.size(); ++i) {
    const std::uint32_t oldest = nodes_.of_row(transfers[i - depth]).last;
    if (graph_.end[oldest] <= issues[i].start && graph_.row[oldest] != graph_.row[issues[i].node]) {
      add(oldest, issues[i].node, Reason::dma_wait);
    }
  }
  if (!issues.empty()) link_drains(issuer, transfers);
}

// Work of the issuing unit that moves nothing itself, depends on no op, and was waited before.
void PathLinks::link_drains(UnitId issuer, std::span<const std::uint32_t> transfers) {
  const std::size_t unit = std::min<std::size_t>(index_of(issuer), profile_.units.size());
  constexpr std::int64_t not_waiting = std::numeric_limits<std::int64_t>::max();
  std::int64_t waiting_since = not_waiting;
  for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(std::uint32_t(unit)))) {
    const std::uint32_t row = span.row;
    if (!nodes_.is_work(row)) {
      const bool waits = profile_.spans.kind[row] != SpanKind::barrier;
      if (waits) waiting_since = profile_.spans.start[row] - graph_.timeline.begin;
      continue;
    }
    if (nodes_.is_transfer(row)) continue;
    const std::uint32_t node = nodes_.of_row(row).first;
    const std::size_t op = graph_.op_of(node);
    const bool alone = op >= runs_.size() || (!runs_[op].transfers && !has_edge_in_[op]);
    if (alone) {
      const auto after = std::upper_bound(transfers.begin(), transfers.end(), graph_.start[node],
                                          [&](std::int64_t time, std::uint32_t each) {
                                            return time < graph_.end[nodes_.of_row(each).last];
                                          });
      if (after != transfers.begin() &&
          graph_.end[nodes_.of_row(*(after - 1)).last] > waiting_since) {
        add(nodes_.of_row(*(after - 1)).last, node, Reason::dma_wait);
      }
    }
    waiting_since = not_waiting;
  }
}

// A thread comes to the waits before an op only when the inputs of the op are there, so what holds
// the op back holds back its waits: a short poll for DMA, of a transfer that was complete long
// before, would otherwise be all that the op seems to have waited for.

void PathLinks::find_waited_work() {
  if (!nodes_.has_dma_waits()) return;
  inputs_.resize(runs_.size());
  std::vector<std::vector<WaitedWork>> of_units(profile_.units.size());
  parallel_for(of_units.size(), [&](std::size_t unit) {
    WaitedWork waited{PathGraph::none, PathGraph::none, PathGraph::none};
    for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(std::uint32_t(unit)))) {
      if (span.kind == SpanKind::dma_wait) {
        waited.last_wait = span.row;
        if (waited.first_wait == PathGraph::none) waited.first_wait = span.row;
      } else if (waited.first_wait != PathGraph::none && role_of(span.kind) == Role::work &&
                 span.kind != SpanKind::transfer) {
        waited.row = span.row;
        of_units[unit].push_back(waited);
        waited.first_wait = PathGraph::none;
      }
    }
  });
  for (const std::vector<WaitedWork>& of_unit : of_units) {
    waited_work_.insert(waited_work_.end(), of_unit.begin(), of_unit.end());
  }
  for (const WaitedWork& waited : waited_work_) {
    const std::size_t op = index_of(profile_.spans.op[waited.row]);
    if (op < inputs_.size()) inputs_[op].matters = true;
  }
}

// The first of the waits, if it began when the source had ended; else the last, likewise. Their
// latency is of a class of their own: the shortest poll is part of it.
void PathLinks::block_wait(WaitedWork& waited, std::uint32_t source, Reason reason,
                           std::uint32_t place) {
  for (const std::uint32_t wait : {waited.first_wait, waited.last_wait}) {
    if (graph_.end[source] > profile_.spans.start[wait] - graph_.timeline.begin) continue;
    const std::uint32_t mark = nodes_.of_row(wait).last;
    const auto latency =
        classes_.of(Reason::dma_wait, place_of(source), place_of(mark), false, true);
    links_.push_back({mark, place, {source, reason, latency, false, false}});
    waited.blocked_until = std::max(waited.blocked_until, graph_.end[source]);
    return;
  }
}

// By the edges that are followed execution by execution: right after their own links.
void PathLinks::block_waits_stepwise() {
  if (waited_work_.empty() || stepwise_.empty()) return;
  const auto pushed = std::ptrdiff_t(links_.size());
  const auto node_of = [&](const WaitedWork& waited) { return nodes_.of_row(waited.row).first; };
  std::ranges::sort(waited_work_, {}, node_of);
  StepwiseEdges::Sweep sweep(stepwise_, 0);
  for (WaitedWork& waited : waited_work_) {
    const std::uint32_t node = node_of(waited);
    if (!sweep.go_to(node)) continue;
    for (const StepwiseEdges::Followed& edge : stepwise_.into(graph_.op_of(node))) {
      PathLink link;
      if (sweep.link(edge, link)) block_wait(waited, link.from, edge.reason, edge.edge + 1);
    }
  }
  std::rotate(links_.begin(), links_.begin() + pushed, links_.end());
}

void PathLinks::note_input(std::size_t op, std::uint32_t source, Reason reason) {
  if (inputs_.empty() || !inputs_[op].matters) return;
  Inputs& inputs = inputs_[op];
  if (inputs.node == PathGraph::none) {
    inputs.node = std::uint32_t(graph_.size());
    graph_.add(graph_.row[source], NodeKind::run_end, graph_.end[source]);
    inputs.reason = reason;
  }
  if (graph_.end[source] > graph_.end[inputs.node]) {
    graph_.start[inputs.node] = graph_.end[inputs.node] = graph_.end[source];
    inputs.reason = reason;
  }
  push(inputs.node, {source, Reason::start, 0, true, false});
}

void PathLinks::link_inputs() {
  for (WaitedWork& waited : waited_work_) {
    const std::size_t op = index_of(profile_.spans.op[waited.row]);
    if (op >= inputs_.size() || inputs_[op].node == PathGraph::none) continue;
    block_wait(waited, inputs_[op].node, inputs_[op].reason, place_);
  }
}

// A thread that did nothing and comes to a wait right after an op of another thread of its core has
// ended was waiting for its turn in the order of the program. Left as it was recorded, the wait
// would hold back all that follows at its own time, whatever else takes less.
void PathLinks::block_waits_in_order() {
  constexpr std::int64_t at_once = 100;  // ticks: threads wake one after the other
  constexpr int max_looked_at = 64;
  const auto start_of = [&](const WaitedWork& waited) {
    return profile_.spans.start[waited.first_wait] - graph_.timeline.begin;
  };
  std::vector<const WaitedWork*> idle;
  for (const WaitedWork& waited : waited_work_) {
    const std::uint32_t before = graph_.unit_before[nodes_.of_row(waited.first_wait).first];
    std::int64_t blocked_until = std::max<std::int64_t>(waited.blocked_until, 0);
    if (before != PathGraph::none) blocked_until = std::max(blocked_until, graph_.end[before]);
    if (start_of(waited) - blocked_until > at_once) idle.push_back(&waited);
  }
  if (idle.empty()) return;
  std::vector<std::pair<std::int64_t, std::uint32_t>> ends;  // with nodes
  for (std::size_t unit = 0; unit < profile_.units.size(); ++unit) {
    for (const SpanOfUnit& span : nodes_.by_unit().spans_of(UnitId(std::uint32_t(unit)))) {
      if (!nodes_.is_work(span.row) || nodes_.is_transfer(span.row)) continue;
      const std::uint32_t node = nodes_.of_row(span.row).last;
      if (node != PathGraph::none) ends.emplace_back(graph_.end[node], node);
    }
  }
  std::ranges::sort(ends);
  for (const WaitedWork* waited : idle) {
    const UnitId unit = profile_.spans.unit[waited->first_wait];
    const Unit& here = profile_.units[index_of(unit)];
    const auto after = std::ranges::upper_bound(ends, start_of(*waited), {},
                                                [](const auto& end) { return end.first; });
    int looked_at = 0;
    for (auto end = after; end != ends.begin() && looked_at < max_looked_at; ++looked_at) {
      --end;
      if (start_of(*waited) - end->first > at_once) break;
      const UnitId other = profile_.spans.unit[graph_.row[end->second]];
      const Unit& there = profile_.units[index_of(other)];
      if (other == unit || there.core != here.core || there.device != here.device) continue;
      const std::uint32_t mark = nodes_.of_row(waited->first_wait).last;
      const auto latency =
          classes_.of(Reason::dma_wait, place_of(end->second), place_of(mark), false, true);
      push(mark, {end->second, Reason::order, latency, false, false});
      break;
    }
  }
}

}  // namespace npuscope::analysis
