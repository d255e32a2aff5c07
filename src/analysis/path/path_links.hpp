// What holds executions back, as links between the nodes of a path graph.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/path/path_latency_classes.hpp"
#include "analysis/path/path_nodes.hpp"
#include "analysis/path/path_stepwise.hpp"

namespace npuscope::analysis {

// All links of a path graph by the nodes that they lead to.

// One beside those of the edges that are followed execution by execution.
struct LooseLink {
  std::uint32_t to;
  std::uint32_t place;  // before the links of the edge of this number, and of those after it
  PathLink link;
};

// Writes PathGraph::links and first_link, those of a node by their places, and at one place as they
// were given. Whether each node comes after those that its links and its unit hold it back by.
bool write_links(PathGraph& graph, const PathNodes& nodes, const std::vector<LooseLink>& loose,
                 const StepwiseEdges& stepwise);

// Adds run_begin and run_end nodes to the graph, counts what it finds in the graph's basis, and
// writes the links beyond those of the units, in the order in which they count for a node.
class PathLinks {
 public:
  PathLinks(const Profile& profile, PathNodes& nodes, PathGraph& graph);

  // Whether each node comes after those that hold it back.
  bool make();

 private:
  struct Run : OpRun {
    std::uint32_t begin_node = PathGraph::none, end_node = PathGraph::none;
    bool has_barrier = false;
    bool passes = false;  // executes nothing, but hands on what it depends on
  };

  // Work that follows waits for DMA on its unit, with nothing between.
  struct WaitedWork {
    std::uint32_t row;
    std::uint32_t first_wait, last_wait;                                 // rows
    std::int64_t held_until = std::numeric_limits<std::int64_t>::min();  // by what holds the work
  };

  // What an op waits for that has waits before its executions: the last of the runs that it needs.
  struct Inputs {
    std::uint32_t node = PathGraph::none;  // run_end of them all
    Reason reason = Reason::data;
    bool matters = false;  // an execution of the op has a wait before it
  };

  void find_runs();
  void find_barriers();
  void find_cycles();
  void find_passes();
  void pass_on(std::size_t op, std::span<const std::uint32_t> sources);
  void link_edges();
  void follow_stepwise(std::uint32_t edge);
  void hold_waits_stepwise();
  void find_waited_work();
  void hold_wait(WaitedWork& waited, std::uint32_t source, Reason reason, std::uint32_t place);
  void hold_waits_in_order();
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
  void push(std::uint32_t to, const PathLink& link) { links_.push_back({to, place_, link}); }
  LatencyClasses::Place place_of(std::uint32_t node) const;

  const Profile& profile_;
  PathNodes& nodes_;
  PathGraph& graph_;
  LatencyClasses classes_;
  std::vector<Run> runs_;  // by op
  std::vector<bool> has_edge_in_;
  std::vector<WaitedWork> waited_work_;  // by unit, then by time
  std::vector<Inputs> inputs_;           // by op
  std::vector<std::uint32_t> landed_;    // rows of waits with a landing
  StepwiseEdges stepwise_;
  std::uint64_t stepwise_left_ = 0;
  std::uint32_t place_ = 0;  // of what is pushed
  std::vector<LooseLink> links_;
};

}  // namespace npuscope::analysis
