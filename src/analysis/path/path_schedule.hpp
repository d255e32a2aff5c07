// When everything starts and ends, given how long it takes: forward along a path graph; and the
// path that decided it, backward.
#pragma once

#include <optional>
#include <vector>

#include "analysis/path/path_graph.hpp"

namespace npuscope::analysis {

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

  // Whether any node may take another time than observed.
  bool changes() const { return changes_; }
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

// When nodes start and end, in ticks since the timeline's begin.
class Schedule {
 public:
  // That of the observed durations, which by the delays of the graph is what was observed.
  explicit Schedule(const PathGraph& graph);
  Schedule(const PathGraph& graph, const NodeScale& scale);
  // Without the links whose mark is set, by place in PathGraph::links.
  Schedule(const PathGraph& graph, const std::vector<bool>& dropped);

  // Whole numbers in that of the observed durations.
  double start(std::uint32_t node) const { return end(node) - length(node); }
  double end(std::uint32_t node) const {
    return ends_.empty() ? double(graph_.end[node]) : ends_[node];
  }

  std::uint32_t last() const { return last_; }  // the node that ends last; none: none
  double last_end() const { return last_ == PathGraph::none ? 0 : end(last_); }

  // What lets a node go last.
  struct Binding {
    std::uint32_t from = PathGraph::none;
    Reason reason = Reason::start;
    double time = 0;
  };
  Binding binding_of(std::uint32_t node) const;

  const PathGraph& graph() const { return graph_; }

 private:
  double length(std::uint32_t node) const {
    const double observed = double(graph_.end[node] - graph_.start[node]);
    return observed > 0 ? observed * scale_.of(node) : 0;
  }
  double released(std::uint32_t node) const;
  double release(const PathLink& link, std::uint32_t node) const;
  bool is_later(std::uint32_t node, std::uint32_t other) const;
  void take_if_last(std::uint32_t node);

  void run();

  const PathGraph& graph_;
  NodeScale scale_;
  const std::vector<bool>* dropped_ = nullptr;
  Column<double> ends_;  // empty: as observed
  std::uint32_t last_ = PathGraph::none;
};

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
std::vector<PathNode> path_through(const Schedule& schedule);

// As the steps of a path, in whole ticks; without what the gaps are made of.
std::vector<PathStep> steps_of(const Schedule& schedule, const std::vector<PathNode>& path);

}  // namespace npuscope::analysis
