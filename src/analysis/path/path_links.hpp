// What holds executions back, as links between the nodes of a path graph.
#pragma once

#include <vector>

#include "analysis/path/path_nodes.hpp"

namespace npuscope::analysis {

struct LooseLink {
  std::uint32_t to = 0;
  PathLink link;
};

// Adds run_begin and run_end nodes to the graph, counts what it finds in the graph's basis, and
// gives the links beyond those of the units.
class PathLinks {
 public:
  PathLinks(const Profile& profile, const PathNodes& nodes, PathGraph& graph)
      : profile_(profile), nodes_(nodes), graph_(graph) {}

  std::vector<LooseLink> make();

  // By node: the node before it on its unit was followed by a barrier.
  std::vector<bool> after_barrier;

 private:
  // The executions of an op: where it begins, when its results are there.
  struct Run {
    std::uint32_t begin_node = PathGraph::none, end_node = PathGraph::none;
    std::int64_t begin = 0, end = 0;
    bool works = false, transfers = false, has_barrier = false, spreads = false;
    bool passes = false;  // executes nothing, but hands on what it depends on
  };

  void find_runs();
  void find_barriers();
  void find_cycles();
  void find_passes();
  void pass_on(std::size_t op, std::span<const std::uint32_t> sources);
  void link_edges();
  void link_stepwise(const Edge& edge);
  void link_landings();
  void link_named(std::span<const std::uint32_t> ops);
  void add_landing(std::uint32_t row);
  void link_flows();
  void link_transfers();
  void link_engine(std::span<const std::uint32_t> transfers);
  void link_drains(UnitId issuer, std::span<const std::uint32_t> transfers);
  std::uint32_t node_at(std::uint32_t row, std::int64_t time) const;

  void add(std::uint32_t from, std::uint32_t to, Reason reason, const Run* run = nullptr);
  std::uint32_t run_begin(std::size_t op);
  std::uint32_t run_end(std::size_t op);
  std::uint32_t add_node(std::uint32_t row, NodeKind kind, std::int64_t time);
  bool feeds_others(std::uint32_t row, std::size_t op) const;
  std::uint8_t latency_class(Reason reason, std::uint32_t from, std::uint32_t to,
                             const Run* run) const;
  bool are_of_one_queue(std::uint32_t from, std::uint32_t to) const;

  const Profile& profile_;
  const PathNodes& nodes_;
  PathGraph& graph_;
  std::vector<Run> runs_;  // by op
  std::vector<bool> has_edge_in_;
  std::vector<std::vector<std::uint32_t>> producers_;  // by op, by end; made when needed
  std::uint64_t stepwise_left_ = 0;
  std::vector<LooseLink> links_;
};

inline constexpr std::size_t latency_classes = reason_count * 16;

}  // namespace npuscope::analysis
