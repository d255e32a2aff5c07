// What holds executions back, as links between the nodes of a path graph.
#pragma once

#include <vector>

#include "analysis/path/path_nodes.hpp"

namespace npuscope::analysis {

struct LooseLink {
  std::uint32_t to;
  PathLink link;
};
using LooseLinks = std::vector<std::vector<LooseLink>>;  // one after the other

// Adds run_begin and run_end nodes to the graph, counts what it finds in the graph's basis, and
// gives the links beyond those of the units, in the order in which they count for a node.
class PathLinks {
 public:
  PathLinks(const Profile& profile, const PathNodes& nodes, PathGraph& graph);

  LooseLinks make();

 private:
  // The executions of an op: where it begins, when its results are there.
  struct Run {
    std::uint32_t begin_node = PathGraph::none, end_node = PathGraph::none;
    std::int64_t begin = 0, end = 0;
    bool works = false, transfers = false, has_barrier = false, spreads = false;
    bool passes = false;  // executes nothing, but hands on what it depends on
  };

  // Work that follows waits for DMA on its unit, with nothing between.
  struct WaitedWork {
    std::uint32_t row;
    std::uint32_t first_wait, last_wait;  // rows
  };

  // What an op waits for that has waits before its executions: the last of the runs that it needs.
  struct Inputs {
    std::uint32_t node = PathGraph::none;  // run_end of them all
    Reason reason = Reason::data;
    bool matters = false;  // an execution of the op has a wait before it
  };

  // Links that follow from one another, or from edges that are followed execution by execution and
  // that can be looked at beside other such edges.
  struct Segment {
    std::vector<LooseLink> links;
    std::vector<std::uint32_t> stepwise;  // edges
    std::uint64_t cost = 0, unmet = 0;
  };

  void find_runs();
  Run run_of(std::size_t op) const;
  void find_barriers();
  void find_cycles();
  void find_passes();
  void pass_on(std::size_t op, std::span<const std::uint32_t> sources);
  void link_edges();
  void follow_stepwise(std::uint32_t edge);
  void find_producers();
  void link_stepwise(Segment& segment) const;
  bool link_stepwise(const Edge& edge, std::vector<LooseLink>& links) const;
  void find_waited_work();
  const WaitedWork* waits_before(std::uint32_t row) const;
  void hold_wait(const WaitedWork& waited, std::uint32_t source, Reason reason,
                 std::vector<LooseLink>& links) const;
  void note_input(std::size_t op, std::uint32_t source, Reason reason);
  void link_inputs();
  void link_landings();
  void link_named(std::span<const std::uint32_t> ops);
  void add_landing(std::uint32_t row);
  void link_peers();
  void link_peers_of(std::uint32_t wait, const SpanOfUnit& next, UnitId unit);
  void link_flows();
  void link_events();
  void link_transfers();
  void link_engine(std::span<const std::uint32_t> transfers);
  void link_drains(UnitId issuer, std::span<const std::uint32_t> transfers);
  std::uint32_t node_at(std::uint32_t row, std::int64_t time) const;

  void add(std::uint32_t from, std::uint32_t to, Reason reason, const Run* run = nullptr);
  std::uint32_t run_begin(std::size_t op);
  std::uint32_t run_end(std::size_t op);
  void push(const LooseLink& link);
  // An end of a link: where it runs, and on the queue of which engine.
  struct Place {
    UnitId unit;
    Engine queue;
  };
  Place place_of(std::uint32_t node) const;
  std::size_t distance(Place from, Place to) const;
  std::uint8_t latency_class(Reason reason, Place from, Place to, bool transfer,
                             bool barrier) const {
    return std::uint8_t(std::size_t(reason) * 16 + distance(from, to) * 4 + transfer * 2 + barrier);
  }

  const Profile& profile_;
  const PathNodes& nodes_;
  PathGraph& graph_;
  struct Where {
    std::uint32_t device = 0, core = 0;
    bool known = false;
  };
  std::vector<Where> where_;  // by unit; one more for what has none
  std::vector<Run> runs_;     // by op
  std::vector<bool> has_edge_in_;
  std::vector<WaitedWork> waited_work_;  // by row
  std::vector<Inputs> inputs_;           // by op
  std::vector<std::uint32_t> landed_;    // rows of waits with a landing
  // By op, by end, places in PathNodes::of_op(); only of those that edges are followed from.
  std::vector<std::vector<std::uint32_t>> producers_;
  std::uint64_t stepwise_left_ = 0;
  std::vector<Segment> segments_{1};
};

inline constexpr std::size_t latency_classes = reason_count * 16;

}  // namespace npuscope::analysis
