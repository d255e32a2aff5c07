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
  std::sort(waited_work_.begin(), waited_work_.end(),
            [](const WaitedWork& a, const WaitedWork& b) { return a.row < b.row; });
  for (const WaitedWork& waited : waited_work_) {
    const std::size_t op = index_of(profile_.spans.op[waited.row]);
    if (op < inputs_.size()) inputs_[op].matters = true;
  }
}

const PathLinks::WaitedWork* PathLinks::waits_before(std::uint32_t row) const {
  const auto found =
      std::lower_bound(waited_work_.begin(), waited_work_.end(), row,
                       [](const WaitedWork& each, std::uint32_t of) { return each.row < of; });
  return found != waited_work_.end() && found->row == row ? &*found : nullptr;
}

// The first of the waits, if it began when the source had ended; else the last, likewise. Their
// latency is of a class of their own: the shortest poll is part of it.
void PathLinks::hold_wait(const WaitedWork& waited, std::uint32_t source, Reason reason,
                          std::vector<LooseLink>& links) const {
  for (const std::uint32_t wait : {waited.first_wait, waited.last_wait}) {
    if (graph_.end[source] > profile_.spans.start[wait] - graph_.timeline.begin) continue;
    const std::uint32_t mark = nodes_.of_row(wait).last;
    const auto latency =
        latency_class(Reason::dma_wait, place_of(source), place_of(mark), false, true);
    links.push_back({mark, {source, reason, latency, false, false}});
    return;
  }
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
  push({inputs.node, {source, Reason::start, 0, true, false}});
}

void PathLinks::link_inputs() {
  std::vector<LooseLink> links;
  for (const WaitedWork& waited : waited_work_) {
    const std::size_t op = index_of(profile_.spans.op[waited.row]);
    if (op >= inputs_.size() || inputs_[op].node == PathGraph::none) continue;
    hold_wait(waited, inputs_[op].node, inputs_[op].reason, links);
  }
  for (const LooseLink& link : links) push(link);
}

}  // namespace npuscope::analysis
