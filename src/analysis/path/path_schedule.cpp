#include "analysis/path/path_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint32_t none = PathGraph::none;

double release(const PathGraph& graph, const NodeScale& scale, const Schedule& schedule,
               const PathLink& link, std::uint32_t node) {
  if (link.joins) return schedule.end[link.from];
  if (graph.end[link.from] > graph.start[node]) {  // a flow out of its midst
    const double part = double(graph.part_of(link.from, node));
    return schedule.start[link.from] + part * scale.of(link.from);
  }
  return schedule.end[link.from] + double(graph.latencies[link.latency]);
}

// What lets a node go last.
struct Binding {
  std::uint32_t from = none;
  Reason reason = Reason::start;
  double time = 0;
};

Binding binding_of(const PathGraph& graph, const NodeScale& scale, const Schedule& schedule,
                   std::uint32_t node) {
  Binding binding;
  for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
    const PathLink& link = graph.links[i];
    if (link.from == none) continue;
    const double time = release(graph, scale, schedule, link, node);
    if (binding.from != none && time <= binding.time) continue;
    binding = {link.from, link.reason, time};
  }
  if (const std::uint32_t before = graph.unit_before[node]; before != none) {
    const double time = schedule.end[before] + double(graph.unit_latency(node));
    if (binding.from == none || time > binding.time) binding = {before, Reason::unit, time};
  }
  return binding;
}

Schedule schedule_for(const PathGraph& graph) {
  Schedule schedule;
  schedule.start.resize(graph.size());
  schedule.end.resize(graph.size());
  return schedule;
}

// Of those that end at once the longest, of such the one whose unit and row come first.
bool is_later(const PathGraph& graph, const Schedule& schedule, std::uint32_t node,
              std::uint32_t other) {
  if (schedule.end[node] != schedule.end[other]) return schedule.end[node] > schedule.end[other];
  if (schedule.start[node] != schedule.start[other]) {
    return schedule.start[node] < schedule.start[other];
  }
  return std::tuple(graph.unit_of(node), graph.row[node], node) <
         std::tuple(graph.unit_of(other), graph.row[other], other);
}

void take_if_last(const PathGraph& graph, std::uint32_t node, Schedule& schedule) {
  if (graph.kind[node] != NodeKind::execution) return;
  if (schedule.last != none && !is_later(graph, schedule, node, schedule.last)) return;
  schedule.last = node;
  schedule.last_end = schedule.end[node];
}

}  // namespace

Schedule schedule_of(const PathGraph& graph, const NodeScale& scale) {
  Schedule schedule = schedule_for(graph);
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    const Binding binding = binding_of(graph, scale, schedule, node);
    const double released = binding.from == none ? double(graph.start[node]) : binding.time;
    const double duration = double(graph.end[node] - graph.start[node]);
    schedule.start[node] = released + double(graph.delay[node]);
    schedule.end[node] = schedule.start[node] + (duration > 0 ? duration * scale.of(node) : 0);
    take_if_last(graph, node, schedule);
  }
  return schedule;
}

Schedule observed_schedule(const PathGraph& graph) {
  Schedule schedule = schedule_for(graph);
  const std::vector<RowRange> parts = ranges_of(graph.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t node = parts[part].first; node < parts[part].last; ++node) {
      schedule.start[node] = double(graph.start[node]);
      schedule.end[node] = double(graph.end[node]);
    }
  });
  for (std::uint32_t node = 0; node < graph.size(); ++node) take_if_last(graph, node, schedule);
  return schedule;
}

std::vector<PathNode> path_through(const PathGraph& graph, const NodeScale& scale,
                                   const Schedule& schedule) {
  std::vector<PathNode> path;
  PathNode here{schedule.last, Reason::start, schedule.last_end, 0, 0};
  while (here.node != none) {
    // Through nodes without length the reason is the first that says something.
    const std::uint32_t node = here.node;
    Reason reason = Reason::start;
    double delay = double(graph.delay[node]), landed = 0;
    Binding binding = binding_of(graph, scale, schedule, node);
    while (true) {
      if (reason == Reason::start || reason == Reason::unit) {
        reason = binding.reason == Reason::start ? reason : binding.reason;
      }
      if (binding.from == none || graph.kind[binding.from] == NodeKind::execution) break;
      if (graph.kind[binding.from] == NodeKind::landing) {
        landed = std::max(landed, schedule.end[binding.from]);
      } else {
        delay += double(graph.delay[binding.from]);
      }
      binding = binding_of(graph, scale, schedule, binding.from);
    }
    here.reason = binding.from == none ? Reason::start : landed > 0 ? Reason::dma_wait : reason;
    here.delay = delay;
    path.push_back(here);
    const std::uint32_t from = binding.from;
    const double until = from == none ? 0 : std::min(schedule.end[from], schedule.start[node]);
    path.back().in_flight = std::max(0.0, landed - until);
    here = {from, Reason::start, until, 0, 0};
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<PathStep> steps_of(const PathGraph& graph, const Schedule& schedule,
                               const std::vector<PathNode>& path) {
  std::vector<PathStep> steps;
  steps.reserve(path.size());
  std::int64_t before = 0;
  for (const PathNode& each : path) {
    PathStep step;
    step.row = graph.row[each.node];
    step.op = graph.profile->spans.op[step.row];
    step.unit = graph.profile->spans.unit[step.row];
    const std::int64_t start = std::llround(schedule.start[each.node]);
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
