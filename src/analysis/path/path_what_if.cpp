#include <algorithm>
#include <cmath>

#include "analysis/path/path_forward.hpp"
#include "analysis/path/path_schedule.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/path.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {
namespace {

constexpr int max_rounds = 64;

bool makes_faster(const Scaling& scaling) {
  const auto below_one = [](double factor) { return factor < 1; };
  return std::any_of(scaling.of_op.begin(), scaling.of_op.end(), below_one) ||
         std::any_of(scaling.of_unit.begin(), scaling.of_unit.end(), below_one);
}

// The wall is the longest of all paths, each a straight line in the factor of what is made faster.
// From above, the line of the path that is longest at a factor meets the limit at a smaller one;
// there the next is taken, until none rises above the limit.
std::optional<double> speedup_to(const PathGraph& graph, const Scaling& scaling, double limit) {
  double factor = 1;
  for (int round = 0; round < max_rounds; ++round) {
    const NodeScale faster(graph, scaling, 0);
    const Schedule schedule(graph, NodeScale(graph, scaling, factor));
    const double above = schedule.last_end() - limit;
    const std::vector<PathNode> path = path_through(schedule);
    if (above <= 1e-3 * double(path.size())) return 1 / factor;
    double slope = 0;
    for (const PathNode& each : path) {
      if (faster.of(each.node) > 0) continue;
      slope += (each.released_next - schedule.start(each.node)) / factor;
    }
    if (!(slope > 0)) return std::nullopt;
    factor -= above / slope;
    if (!(factor > 1e-6)) return std::nullopt;
  }
  return std::nullopt;
}

// How many ways a pass along the graph computes at once.
constexpr std::size_t max_ways = 4;

template <std::size_t ways>
std::vector<double> ends_of_pass(const PathGraph& graph, const std::vector<NodeScale>& scales) {
  ForwardPass<ways> pass(graph, scales, graph.ring());
  pass.run();
  std::vector<double> ends;
  for (std::size_t way = 0; way < scales.size(); ++way) ends.push_back(pass.last_end(way));
  return ends;
}

std::vector<double> last_ends(const PathGraph& graph, std::span<const Scaling> scalings) {
  std::vector<NodeScale> scales;
  bool changes = false;
  for (const Scaling& scaling : scalings) {
    scales.emplace_back(graph, scaling);
    changes = changes || scales.back().changes();
  }
  if (!changes) return std::vector<double>(scalings.size(), double(graph.last_end));
  switch (scalings.size()) {
    case 1: return ends_of_pass<1>(graph, scales);
    case 2: return ends_of_pass<2>(graph, scales);
    default: return ends_of_pass<max_ways>(graph, scales);  // of three not fewer: in pairs
  }
}

}  // namespace

double PathAnalysis::wall_if(const Scaling& scaling) const {
  return walls_if({&scaling, 1}).front();
}

std::vector<double> PathAnalysis::walls_if(std::span<const Scaling> scalings) const {
  const double tail = double(length_of(graph_->timeline) - graph_->last_end);
  std::vector<double> walls(scalings.size());
  const std::size_t count = scalings.size();
  // As few passes as there may be, but something to do for each thread.
  const std::size_t passes =
      std::max((count + max_ways - 1) / max_ways, std::min(workers(), count));
  parallel_for(passes, [&](std::size_t pass) {
    const std::size_t first = count * pass / passes, last = count * (pass + 1) / passes;
    const std::vector<double> ends = last_ends(*graph_, scalings.subspan(first, last - first));
    for (std::size_t i = first; i < last; ++i) walls[i] = ends[i - first] + tail;
  });
  return walls;
}

double PathAnalysis::wall_with_overlap(Engine a, Engine b) const {
  const PathGraph& graph = *graph_;
  std::vector<bool> dropped(graph.links.size(), false);
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    const Engine to = engine_of(*graph.profile, graph.row[node]);
    if (to != a && to != b) continue;
    for (auto i = graph.first_link[node]; i < graph.first_link[node + 1]; ++i) {
      const PathLink& link = graph.links[i];
      const bool is_false = link.reason == Reason::reuse || link.reason == Reason::order;
      if (!is_false || link.from == PathGraph::none) continue;
      dropped[i] = engine_of(*graph.profile, graph.row[link.from]) == (to == a ? b : a);
    }
  }
  return Schedule(graph, dropped).last_end() + double(length_of(graph.timeline) - graph.last_end);
}

WhatIf PathAnalysis::what_if(const Scaling& scaling) const {
  const PathGraph& graph = *graph_;
  const NodeScale scale(graph, scaling);
  const Schedule before(graph), after(graph, scale);
  const double wall = double(length_of(graph.timeline)), tail = wall - before.last_end();
  WhatIf result;
  result.before = wall;
  result.after = after.last_end() + tail;
  for (const PathNode& each : path_through(before)) {
    result.off_the_path +=
        (each.released_next - before.start(each.node)) * (1 - scale.of(each.node));
  }
  result.limit = result.after;
  if (makes_faster(scaling)) {
    const double limit = Schedule(graph, NodeScale(graph, scaling, 0)).last_end();
    result.limit = limit + tail;
    result.limit_speedup = speedup_to(graph, scaling, limit);
  }
  result.steps = steps_of(after, path_through(after));
  return result;
}

}  // namespace npuscope::analysis
