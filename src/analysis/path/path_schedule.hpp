// When everything starts and ends, given how long it takes: forward along a path graph; and the
// path that decided it, backward.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/path/path_graph.hpp"

namespace npuscope::analysis {

// How much longer or shorter nodes take: by a scaling, or not at all. With `faster_as`, what the
// scaling makes faster takes this part of its time instead.
struct NodeScaling {
  const Scaling* scaling = nullptr;
  std::optional<double> faster_as = {};

  bool changes() const {
    return scaling != nullptr && !(scaling->of_op.empty() && scaling->of_unit.empty());
  }
};

// The same of several ways at once, next to one another: what a processor does with two numbers at
// once needs them so.
template <std::size_t ways>
class NodeScales {
 public:
  using OfWays = std::array<double, ways>;

  // Of at most as many; the last stands for those that are missing.
  NodeScales(const PathGraph& graph, const std::vector<NodeScaling>& scalings) : graph_(graph) {
    changes_ = std::ranges::any_of(scalings, &NodeScaling::changes);
    if (!changes_) return;
    of_op_.resize(graph.profile->ops.size() + 1);
    of_unit_.resize(graph.profile->units.size() + 1);
    for (std::size_t way = 0; way < ways; ++way) {
      const NodeScaling& of = scalings[std::min(way, scalings.size() - 1)];
      const auto take = [&](std::vector<OfWays>& into, const std::vector<double>* factors) {
        for (std::size_t i = 0; i < into.size(); ++i) {
          into[i][way] = factors != nullptr && i < factors->size() ? (*factors)[i] : 1;
        }
      };
      take(of_op_, of.scaling != nullptr ? &of.scaling->of_op : nullptr);
      take(of_unit_, of.scaling != nullptr ? &of.scaling->of_unit : nullptr);
      any_faster_as_ = any_faster_as_ || of.faster_as.has_value();
      faster_as_[way] = of.faster_as;
    }
  }

  OfWays of(std::uint32_t node) const {
    OfWays factors;
    if (!changes_) {
      factors.fill(1);
      return factors;
    }
    const OfWays &of_op = of_op_[graph_.op_of(node)], &of_unit = of_unit_[graph_.unit_of(node)];
    for (std::size_t way = 0; way < ways; ++way) factors[way] = of_op[way] * of_unit[way];
    for (std::size_t way = 0; any_faster_as_ && way < ways; ++way) {
      if (factors[way] < 1) factors[way] = faster_as_[way].value_or(factors[way]);
    }
    return factors;
  }
  // Of nodes in their order the next op is no more regular than the program.
  void ask_ahead(std::uint32_t node) const {
    constexpr std::uint32_t ahead = 12;
    if (!changes_ || node + ahead >= graph_.size()) return;
    __builtin_prefetch(&of_op_[graph_.op_of(node + ahead)]);
  }
  OfWays length(std::uint32_t node) const { return length(node, of(node)); }
  OfWays length(std::uint32_t node, OfWays factors) const {
    const double observed = std::max(double(graph_.end[node] - graph_.start[node]), 0.0);
    for (double& factor : factors) factor *= observed;
    return factors;
  }

 private:
  const PathGraph& graph_;
  bool changes_ = false, any_faster_as_ = false;
  std::vector<OfWays> of_op_, of_unit_;  // of each, and of none
  std::array<std::optional<double>, ways> faster_as_;
};

// A pass along a path graph: when each node ends, for several ways at once how long nodes take.
// What the graph says of a node and of its links is read once for all of them.
//
//   ForwardPass<2> pass(graph, {graph, {{&one}, {&other}}}, graph.ring());
//   pass.run();
//   pass.last_end(1)         // of the executions, the other way
//
//   ForwardPass<1> all(graph, {graph, {}}, graph.all_nodes());
//   all.run();
//   all.take_ends()          // by node, and of each by way
template <std::size_t ways>
class ForwardPass {
 public:
  // `kept`: the nodes whose ends it remembers; those of PathGraph::ring() mostly fit into the
  // processor's caches. Without the links whose mark is set, by place in PathGraph::links.
  ForwardPass(const PathGraph& graph, const NodeScales<ways>& scales, NodeRing kept,
              const std::vector<bool>* dropped = nullptr)
      : graph_(graph),
        scales_(scales),
        dropped_(dropped),
        kept_(kept),
        latencies_(graph.latencies.begin(), graph.latencies.end()),
        unit_latencies_(graph.unit_latencies.begin(), graph.unit_latencies.end()) {}

  void run() {
    last_end_.fill(0);
    ends_.resize(kept_.size * ways);
    bool any = false;
    for (std::uint32_t node = 0; node < graph_.size(); ++node) {
      OfWays times;
      ask_ahead(node);
      if (!release(node, times)) times.fill(double(graph_.start[node]));
      const OfWays lengths = scales_.length(node);
      double* const ends = &ends_[place_of(node)];
      const double delay = double(graph_.delay[node]);
      for (std::size_t way = 0; way < ways; ++way) ends[way] = times[way] + delay + lengths[way];
      if (graph_.kind[node] != NodeKind::execution) continue;
      for (std::size_t way = 0; way < ways; ++way) {
        last_end_[way] = any ? later(last_end_[way], ends[way]) : ends[way];
      }
      any = true;
    }
  }

  double last_end(std::size_t way) const { return last_end_[way]; }
  Column<double> take_ends() { return std::move(ends_); }

 private:
  using OfWays = typename NodeScales<ways>::OfWays;

  static double later(double a, double b) { return a < b ? b : a; }
  std::size_t place_of(std::uint32_t node) const { return kept_.place_of(node) * ways; }
  const double* ends_of(std::uint32_t node) const { return &ends_[place_of(node)]; }

  // What the next links come from ended some thousand nodes ago.
  void ask_ahead(std::uint32_t node) const {
    constexpr std::uint32_t ahead = 24;
    scales_.ask_ahead(node);
    for (auto i = graph_.first_link[node]; i < graph_.first_link[node + 1]; ++i) {
      if (i + ahead >= graph_.links.size()) return;
      const std::uint32_t from = graph_.links[i + ahead].from;
      if (from != PathGraph::none) __builtin_prefetch(ends_of(from));
    }
  }

  // When its constraints let the node go; false: it has none.
  [[gnu::always_inline]] bool release(std::uint32_t node, OfWays& last) const {
    last.fill(-std::numeric_limits<double>::infinity());
    const std::uint32_t before = graph_.unit_before[node];
    bool any = before != PathGraph::none;
    if (any) take(last, ends_of(before), unit_latencies_[graph_.unit_class(node)]);
    for (auto i = graph_.first_link[node]; i < graph_.first_link[node + 1]; ++i) {
      const PathLink& link = graph_.links[i];
      if (dropped_ != nullptr && (*dropped_)[i]) {
        for (double& time : last) time = later(time, 0.0);
      } else if (link.from == PathGraph::none) {
        continue;
      } else if (!link.leaves_midst) {
        take(last, ends_of(link.from), link.joins ? 0 : latencies_[link.latency]);
      } else {
        take_midst(last, link.from, node);
      }
      any = true;
    }
    return any;
  }

  static void take(OfWays& last, const double* ends, double latency) {
    for (std::size_t way = 0; way < ways; ++way) last[way] = later(last[way], ends[way] + latency);
  }

  // Where a link out of the midst of `from` lets the node go.
  void take_midst(OfWays& last, std::uint32_t from, std::uint32_t node) const {
    const OfWays factors = scales_.of(from), lengths = scales_.length(from, factors);
    const double part = double(graph_.part_of(from, node));
    for (std::size_t way = 0; way < ways; ++way) {
      const double start = ends_of(from)[way] - lengths[way];
      last[way] = later(last[way], start + part * factors[way]);
    }
  }

  const PathGraph& graph_;
  const NodeScales<ways>& scales_;
  const std::vector<bool>* dropped_;
  NodeRing kept_;
  std::vector<double> latencies_, unit_latencies_;  // as in the graph
  OfWays last_end_{};
  Column<double> ends_;
};

// When nodes start and end, in ticks since the timeline's begin.
class Schedule {
 public:
  // That of the observed durations, which by the delays of the graph is what was observed.
  explicit Schedule(const PathGraph& graph);
  Schedule(const PathGraph& graph, const NodeScaling& scaling);
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
  struct BlockingDependency {
    std::uint32_t from = PathGraph::none;
    Reason reason = Reason::start;
    double time = 0;
  };
  BlockingDependency blocking_dependency_of(std::uint32_t node) const;

  const PathGraph& graph() const { return graph_; }

 private:
  double length(std::uint32_t node) const { return scale_.length(node)[0]; }
  double release(const PathLink& link, std::uint32_t node) const;
  bool is_later(std::uint32_t node, std::uint32_t other) const;
  void find_last(double last_end);
  void run(const std::vector<bool>* dropped);

  const PathGraph& graph_;
  NodeScales<1> scale_;
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
