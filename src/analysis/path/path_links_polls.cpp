// A thread comes to the waits before an op only when the inputs of the op are there, so what holds
// the op back holds back its waits: a short poll for DMA, of a transfer that was complete long
// before, would otherwise be all that the op seems to have waited for.
#include <algorithm>

#include "analysis/path/path_links.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

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
void PathLinks::hold_wait(WaitedWork& waited, std::uint32_t source, Reason reason,
                          std::uint32_t place) {
  for (const std::uint32_t wait : {waited.first_wait, waited.last_wait}) {
    if (graph_.end[source] > profile_.spans.start[wait] - graph_.timeline.begin) continue;
    const std::uint32_t mark = nodes_.of_row(wait).last;
    const auto latency =
        classes_.of(Reason::dma_wait, place_of(source), place_of(mark), false, true);
    links_.push_back({mark, place, {source, reason, latency, false, false}});
    waited.held_until = std::max(waited.held_until, graph_.end[source]);
    return;
  }
}

// By the edges that are followed execution by execution: right after their own links.
void PathLinks::hold_waits_stepwise() {
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
      if (sweep.link(edge, link)) hold_wait(waited, link.from, edge.reason, edge.edge + 1);
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
    hold_wait(waited, inputs_[op].node, inputs_[op].reason, place_);
  }
}

// A thread that did nothing and comes to a wait right after an op of another thread of its core has
// ended was waiting for its turn in the order of the program. Left as it was recorded, the wait
// would hold back all that follows at its own time, whatever else takes less.
void PathLinks::hold_waits_in_order() {
  constexpr std::int64_t at_once = 100;  // ticks: threads wake one after the other
  constexpr int max_looked_at = 64;
  const auto start_of = [&](const WaitedWork& waited) {
    return profile_.spans.start[waited.first_wait] - graph_.timeline.begin;
  };
  std::vector<const WaitedWork*> idle;
  for (const WaitedWork& waited : waited_work_) {
    const std::uint32_t before = graph_.unit_before[nodes_.of_row(waited.first_wait).first];
    std::int64_t held_until = std::max<std::int64_t>(waited.held_until, 0);
    if (before != PathGraph::none) held_until = std::max(held_until, graph_.end[before]);
    if (start_of(waited) - held_until > at_once) idle.push_back(&waited);
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
