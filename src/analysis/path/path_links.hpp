// Dependencies of executions, as links between the nodes of a path graph.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "analysis/path/path_graph.hpp"
#include "analysis/path/path_nodes.hpp"

namespace npuscope::analysis {

// Edges whose ops overlap or repeat, followed execution by execution: each execution of the
// consumer waits for the last one of the producer that had ended when it began.
//
//   StepwiseEdges edges(profile, nodes, graph, classes);
//   const auto nearest = LatencyClasses::nearest(Reason::data, false, false);
//   edges.follow({4711, 3, Reason::data, nearest}, 5);    // from op 3 to 5; edges in their order
//   edges.prepare();
//   StepwiseEdges::Sweep sweep(edges, 0);                 // of consumers in the order of nodes
//   if (sweep.go_to(node)) {
//     for (const auto& edge : edges.into(5)) sweep.link(edge, link);
//   }

class StepwiseEdges {
 public:
  struct Followed {
    std::uint32_t edge;  // of the profile
    std::uint32_t from;
    Reason reason;
    std::uint8_t nearest;  // LatencyClasses::nearest() of it
  };

  StepwiseEdges(const Profile& profile, const PathNodes& nodes, const PathGraph& graph,
                const LatencyClasses& classes)
      : profile_(profile), nodes_(nodes), graph_(graph), classes_(classes) {}

  void follow(const Followed& edge, std::uint32_t to) {
    edges_.push_back(edge);
    to_.push_back(to);
  }
  // What asks for the edges into an op comes after this.
  void prepare();

  bool empty() const { return edges_.empty(); }
  // By edge.
  std::span<const Followed> into(std::size_t op) const {
    if (op + 1 >= first_into_.size()) return {};
    return std::span(edges_).subspan(first_into_[op], first_into_[op + 1] - first_into_[op]);
  }
  // How many links lead to the node.
  std::size_t links_to(std::uint32_t node) const;
  // Edges whose consumers all began before any execution of the producer had ended.
  std::uint64_t unmet_edges() const { return unmet_edges_; }

  class Sweep;

 private:
  bool is_consumer(std::uint32_t node) const {
    if (nodes_.is_plain()) return true;
    return nodes_.is_first(node) && nodes_.is_consumer(nodes_.execution(node));
  }

  const Profile& profile_;
  const PathNodes& nodes_;
  const PathGraph& graph_;
  const LatencyClasses& classes_;
  std::vector<Followed> edges_;    // by consumer when prepared
  std::vector<std::uint32_t> to_;  // the consumer of each, as they were followed
  std::vector<std::uint32_t> first_into_;
  std::vector<char> is_followed_;  // by op: whether edges are followed from it
  std::uint64_t unmet_edges_ = 0;
  std::vector<std::int64_t> met_from_;  // by op: from then on none of the edges into it is unmet
};

// Goes through the nodes in their order, and knows of each producing op the last execution that had
// ended.
class StepwiseEdges::Sweep {
 public:
  Sweep(const StepwiseEdges& edges, std::uint32_t first_node);

  // Whether the node waits for what its op depends on.
  bool go_to(std::uint32_t node);
  // Of the node that it went to; writes nothing where the edge is unmet.
  bool link(const Followed& edge, PathLink& link) {
    Producer& producer = producers_[edge.from];
    while (producer.next_end <= begin_) end_next(producer);
    if (producer.ended == PathGraph::none) return false;
    link = {edges_.nodes_.last_of(producer.ended), edge.reason,
            edges_.classes_.of(edge.nearest, producer.place, place_), false, false};
    return true;
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  // Its executions by their first nodes.
  struct Producer {
    std::int64_t next_end = never;
    std::uint32_t next = PathGraph::none;                     // of those that run the first to end
    std::uint32_t ended = PathGraph::none;                    // the last that ended
    LatencyClasses::Place place{UnitId::none, Engine::none};  // of it
    std::uint32_t running = PathGraph::none;  // in running_, where more than one runs
  };

  void ask_ahead(std::uint32_t node) const;
  void begin(std::uint32_t node);
  void end_next(Producer& producer) {
    producer.ended = producer.next;
    producer.place = edges_.nodes_.place_of(producer.next);
    producer.next = PathGraph::none;
    producer.next_end = never;
    if (producer.running != PathGraph::none) take_running(producer);
  }
  void take_running(Producer& producer);
  bool ends_later(std::uint32_t node, std::uint32_t other) const;
  std::int64_t end_of(std::uint32_t node) const {
    return edges_.graph_.end[edges_.nodes_.last_of(node)];
  }

  const StepwiseEdges& edges_;
  std::vector<Producer> producers_;                  // by op
  std::vector<std::vector<std::uint32_t>> running_;  // heaps, the first to end on top
  std::uint32_t next_node_ = 0;                      // to begin
  std::int64_t begin_ = 0;                           // of the node that it went to
  LatencyClasses::Place place_{UnitId::none, Engine::none};
};

// One next to those of the edges that are followed execution by execution.
struct LooseLink {
  std::uint32_t to;
  std::uint32_t place;  // before the links of the edge of this number, and of those after it
  PathLink link;
};

// Writes PathGraph::links and first_link, those of a node by their places, and at one place as they
// were given. Whether each node comes after those that its links and its unit make it depend on.
bool write_links(PathGraph& graph, const PathNodes& nodes, const std::vector<LooseLink>& loose,
                 const StepwiseEdges& stepwise);

// Adds run_begin and run_end nodes to the graph, counts what it finds in the graph's basis, and
// writes the links beyond those of the units, in the order in which they count for a node.
class PathLinks {
 public:
  PathLinks(const Profile& profile, PathNodes& nodes, PathGraph& graph);

  // Whether each node comes after those that it depends on.
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
    std::uint32_t first_wait, last_wait;  // rows
    std::int64_t blocked_until =
        std::numeric_limits<std::int64_t>::min();  // by what blocks the work
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
  void block_waits_stepwise();
  void find_waited_work();
  void block_wait(WaitedWork& waited, std::uint32_t source, Reason reason, std::uint32_t place);
  void block_waits_in_order();
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
