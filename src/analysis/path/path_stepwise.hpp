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
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "analysis/path/path_latency_classes.hpp"
#include "analysis/path/path_nodes.hpp"

namespace npuscope::analysis {

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

}  // namespace npuscope::analysis
