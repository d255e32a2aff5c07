#include "analysis/path/path_schedule.hpp"

#include <cmath>
#include <tuple>

namespace npuscope::analysis {

Schedule::Schedule(const PathGraph& graph) : graph_(graph), scale_(graph, {}) {
  find_last(double(graph.last_end));
}

Schedule::Schedule(const PathGraph& graph, const NodeScaling& scaling)
    : graph_(graph), scale_(graph, {scaling}) {
  run(nullptr);
}

Schedule::Schedule(const PathGraph& graph, const std::vector<bool>& dropped)
    : graph_(graph), scale_(graph, {}) {
  run(&dropped);
}

void Schedule::run(const std::vector<bool>* dropped) {
  ForwardPass<1> pass(graph_, scale_, graph_.all_nodes(), dropped);
  pass.run();
  ends_ = pass.take_ends();
  find_last(pass.last_end(0));
}

double Schedule::release(const PathLink& link, std::uint32_t node) const {
  if (!link.leaves_midst) return end(link.from) + double(graph_.latency_of(link));
  return start(link.from) + double(graph_.part_of(link.from, node)) * scale_.of(link.from)[0];
}

Schedule::BlockingDependency Schedule::blocking_dependency_of(std::uint32_t node) const {
  BlockingDependency blocking;
  for (auto i = graph_.first_link[node]; i < graph_.first_link[node + 1]; ++i) {
    const PathLink& link = graph_.links[i];
    if (link.from == PathGraph::none) continue;
    const double time = release(link, node);
    if (blocking.from != PathGraph::none && time <= blocking.time) continue;
    blocking = {link.from, link.reason, time};
  }
  if (const std::uint32_t before = graph_.unit_before[node]; before != PathGraph::none) {
    const double time = end(before) + double(graph_.unit_latency(node));
    if (blocking.from == PathGraph::none || time > blocking.time)
      blocking = {before, Reason::unit, time};
  }
  return blocking;
}

// Of those that end at once the longest, of such the one whose unit and row come first.
bool Schedule::is_later(std::uint32_t node, std::uint32_t other) const {
  if (end(node) != end(other)) return end(node) > end(other);
  if (start(node) != start(other)) return start(node) < start(other);
  return std::tuple(graph_.unit_of(node), graph_.row[node], node) <
         std::tuple(graph_.unit_of(other), graph_.row[other], other);
}

void Schedule::find_last(double last_end) {
  for (std::uint32_t node = 0; node < graph_.size(); ++node) {
    if (end(node) != last_end || graph_.kind[node] != NodeKind::execution) continue;
    if (last_ == PathGraph::none || is_later(node, last_)) last_ = node;
  }
}

std::vector<PathNode> path_through(const Schedule& schedule) {
  const PathGraph& graph = schedule.graph();
  std::vector<PathNode> path;
  PathNode here{schedule.last(), Reason::start, schedule.last_end(), 0, 0};
  while (here.node != PathGraph::none) {
    // Through nodes without length the reason is the first that says something.
    const std::uint32_t node = here.node;
    Reason reason = Reason::start;
    double delay = double(graph.delay[node]), landed = 0;
    Schedule::BlockingDependency blocking = schedule.blocking_dependency_of(node);
    while (true) {
      if (reason == Reason::start || reason == Reason::unit) {
        reason = blocking.reason == Reason::start ? reason : blocking.reason;
      }
      if (blocking.from == PathGraph::none || graph.kind[blocking.from] == NodeKind::execution)
        break;
      if (graph.kind[blocking.from] == NodeKind::landing) {
        landed = std::max(landed, schedule.end(blocking.from));
      } else {
        delay += double(graph.delay[blocking.from]);
      }
      blocking = schedule.blocking_dependency_of(blocking.from);
    }
    here.reason = blocking.from == PathGraph::none ? Reason::start
                  : landed > 0                     ? Reason::dma_wait
                                                   : reason;
    here.delay = delay;
    path.push_back(here);
    const std::uint32_t from = blocking.from;
    const double until =
        from == PathGraph::none ? 0 : std::min(schedule.end(from), schedule.start(node));
    path.back().in_flight = std::max(0.0, landed - until);
    here = {from, Reason::start, until, 0, 0};
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<PathStep> steps_of(const Schedule& schedule, const std::vector<PathNode>& path) {
  const PathGraph& graph = schedule.graph();
  std::vector<PathStep> steps;
  steps.reserve(path.size());
  std::int64_t before = 0;
  for (const PathNode& each : path) {
    PathStep step;
    step.row = graph.row[each.node];
    step.op = graph.profile->spans.op[step.row];
    step.unit = graph.profile->spans.unit[step.row];
    const std::int64_t start = std::llround(schedule.start(each.node));
    const std::int64_t end = std::llround(each.released_next);
    step.start = graph.timeline.begin + start;
    step.duration = end - start;
    step.gap = start - before;
    step.delay = std::llround(each.delay);
    step.in_flight = std::llround(each.in_flight);
    step.reason = each.reason;
    steps.push_back(step);
    before = end;
  }
  return steps;
}

}  // namespace npuscope::analysis
