// A pass along a path graph: when each node ends, for several ways at once how long nodes take.
// What the graph says of a node and of its links is read once for all of them.
//
//   ForwardPass<2> pass(graph, {NodeScale(graph, one), NodeScale(graph, other)});
//   pass.run();
//   pass.last_end(1)         // of the executions, the other way
//   pass.ends()              // by node, and of each by way
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
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
  double length(std::uint32_t node) const {
    const double observed = double(graph_.end[node] - graph_.start[node]);
    return observed > 0 ? observed * of(node) : 0;
  }
  // When a link out of the midst of a node lets `node` go, where that starts then.
  double released_midst(std::uint32_t from, double start, std::uint32_t node) const {
    return start + double(graph_.part_of(from, node)) * of(from);
  }

 private:
  const PathGraph& graph_;
  const Scaling* scaling_ = nullptr;
  std::optional<double> faster_as_;
  bool changes_ = false;
};

template <std::size_t ways>
class ForwardPass {
 public:
  // Without the links whose mark is set, by place in PathGraph::links.
  ForwardPass(const PathGraph& graph, std::vector<NodeScale> scales,
              const std::vector<bool>* dropped = nullptr)
      : graph_(graph), scales_(std::move(scales)), dropped_(dropped) {}

  void run() {
    last_end_.fill(0);
    ends_.resize(graph_.size() * ways);
    bool any = false;
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      std::array<double, ways> last;
      if (!release(node, last)) last.fill(double(graph_.start[node]));
      double* const ends = &ends_[std::size_t{node} * ways];
      const double delay = double(graph_.delay[node]);
      for (std::size_t way = 0; way < ways; ++way) {
        ends[way] = last[way] + delay + scales_[way].length(node);
      }
      if (graph_.kind[node] != NodeKind::execution) continue;
      for (std::size_t way = 0; way < ways; ++way) {
        last_end_[way] = any ? std::max(last_end_[way], ends[way]) : ends[way];
      }
      any = true;
    }
  }

  double last_end(std::size_t way) const { return last_end_[way]; }
  Column<double> take_ends() { return std::move(ends_); }

 private:
  const double* ends_of(std::uint32_t node) const { return &ends_[std::size_t{node} * ways]; }

  // When its constraints let the node go; false: it has none.
  bool release(std::uint32_t node, std::array<double, ways>& last) const {
    last.fill(-std::numeric_limits<double>::infinity());
    const std::uint32_t before = graph_.unit_before[node];
    bool any = before != PathGraph::none;
    if (any) take(last, ends_of(before), double(graph_.unit_latency(node)));
    for (auto i = graph_.first_link[node]; i < graph_.first_link[node + 1]; ++i) {
      const PathLink& link = graph_.links[i];
      if (dropped_ != nullptr && (*dropped_)[i]) {
        for (double& time : last) time = std::max(time, 0.0);
      } else if (link.from == PathGraph::none) {
        continue;
      } else if (!link.leaves_midst) {
        take(last, ends_of(link.from), double(graph_.latency_of(link)));
      } else {
        for (std::size_t way = 0; way < ways; ++way) {
          const double start = ends_of(link.from)[way] - scales_[way].length(link.from);
          last[way] = std::max(last[way], scales_[way].released_midst(link.from, start, node));
        }
      }
      any = true;
    }
    return any;
  }

  static void take(std::array<double, ways>& last, const double* ends, double latency) {
    for (std::size_t way = 0; way < ways; ++way) {
      last[way] = std::max(last[way], ends[way] + latency);
    }
  }

  const PathGraph& graph_;
  std::vector<NodeScale> scales_;
  const std::vector<bool>* dropped_;
  std::array<double, ways> last_end_{};
  Column<double> ends_;
};

}  // namespace npuscope::analysis
