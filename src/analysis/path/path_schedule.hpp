// When everything starts and ends, given how long it takes: forward along a path graph; and the
// path that decided it, backward.
#pragma once

#include <optional>
#include <vector>

#include "analysis/path/path_forward.hpp"

namespace npuscope::analysis {

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
  double length(std::uint32_t node) const { return scale_.length(node); }
  double release(const PathLink& link, std::uint32_t node) const;
  bool is_later(std::uint32_t node, std::uint32_t other) const;
  void find_last(double last_end);
  void run(const std::vector<bool>* dropped);

  const PathGraph& graph_;
  NodeScale scale_;
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
