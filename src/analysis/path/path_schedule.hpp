// When everything starts and ends, given how long it takes: forward along a path graph; and the
// path that decided it, backward.
#pragma once

#include <optional>
#include <vector>

#include "analysis/path/path_graph.hpp"

namespace npuscope::analysis {

// By node, ticks since the timeline's begin. Whole numbers for the observed durations.
struct Schedule {
  Column<double> start, end;
  double last_end = 0;
  std::uint32_t last = PathGraph::none;  // the node that ends then
};

// How much longer or shorter each node takes.
class NodeScale {
 public:
  explicit NodeScale(const PathGraph& graph) : graph_(graph) {}
  // With `faster_as`, what the scaling makes faster takes this part of its time instead.
  NodeScale(const PathGraph& graph, const Scaling& scaling, std::optional<double> faster_as = {})
      : graph_(graph),
        scaling_(&scaling),
        faster_as_(faster_as),
        changes_(!scaling.of_op.empty() || !scaling.of_unit.empty()) {}

  double of(std::uint32_t node) const {
    if (!changes_) return 1;
    double factor = 1;
    if (!scaling_->of_op.empty()) factor *= scaling_->of_op[graph_.op_of(node)];
    if (!scaling_->of_unit.empty()) factor *= scaling_->of_unit[graph_.unit_of(node)];
    return factor < 1 && faster_as_ ? *faster_as_ : factor;
  }

 private:
  const PathGraph& graph_;
  const Scaling* scaling_ = nullptr;
  std::optional<double> faster_as_;
  bool changes_ = false;
};

Schedule schedule_of(const PathGraph& graph, const NodeScale& scale);
// That of the observed durations, which by the delays of the graph is what was observed.
Schedule observed_schedule(const PathGraph& graph);

// A node on the path and how it was let go.
struct PathNode {
  std::uint32_t node = 0;
  Reason reason = Reason::start;
  double released_next = 0;  // when it let the next one go, its end unless a flow left it before
  double delay = 0;
  double in_flight = 0;  // of the gap before it, until the transfer that it waited for had landed
};

// From the first node to the last; executions only. Of constraints that let go at once, a link
// before the unit, and the first link.
std::vector<PathNode> path_through(const PathGraph& graph, const NodeScale& scale,
                                   const Schedule& schedule);

// As the steps of a path, in whole ticks; without what the gaps are made of.
std::vector<PathStep> steps_of(const PathGraph& graph, const Schedule& schedule,
                               const std::vector<PathNode>& path);

}  // namespace npuscope::analysis
