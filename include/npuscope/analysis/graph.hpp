// The compiled graph as a graph: ops and the edges between them, ready to be walked both ways.
//
//   const OpGraph graph = op_graph(profile);
//   for (const Edge& edge : graph.from(op)) … edge.to, edge.kind …
//   for (const std::uint32_t i : graph.to(op)) … graph.edges()[i].from …
//   const GraphOrder order = order_of(graph, EdgeKinds::all());
//   order.rank[index_of(op)]   // every edge leads to the same rank (a cycle) or a higher one
//
// Edges to ops that do not exist, edges of an op to itself and repeats are counted and left out.
// All in time linear in ops and edges; cycles are no obstacle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// Which kinds of edges a question follows.
class EdgeKinds {
 public:
  constexpr EdgeKinds() = default;
  static constexpr EdgeKinds all() { return EdgeKinds(0xff); }
  // All but reuse: those that the model asks for, or that say what waits for what.
  static constexpr EdgeKinds without(EdgeKind kind) {
    return EdgeKinds(std::uint8_t(0xff & ~(1u << unsigned(kind))));
  }
  constexpr void add(EdgeKind kind) { bits_ = std::uint8_t(bits_ | 1u << unsigned(kind)); }
  constexpr bool has(EdgeKind kind) const { return (bits_ >> unsigned(kind) & 1) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  constexpr explicit EdgeKinds(std::uint8_t bits) : bits_(bits) {}
  std::uint8_t bits_ = 0;
};

class OpGraph {
 public:
  OpGraph(std::size_t ops, std::span<const Edge> edges);

  std::size_t size() const { return first_from_.size() - 1; }
  const std::vector<Edge>& edges() const { return edges_; }  // by from, to and kind, no repeats
  std::span<const Edge> from(OpId op) const;
  std::span<const std::uint32_t> to(OpId op) const;  // places in edges()

  std::uint64_t dangling() const { return dangling_; }  // edges from or to no op
  std::uint64_t loops() const { return loops_; }        // from an op to itself
  std::uint64_t repeats() const { return repeats_; }

 private:
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> first_from_, first_to_, by_to_;
  std::uint64_t dangling_ = 0, loops_ = 0, repeats_ = 0;
};

// The profile's edges; of a trace that has none, its arrows between spans of different ops.
OpGraph op_graph(const Profile& profile);

// Ops in an order in which what comes first is first: ops of one cycle share a rank.
struct GraphOrder {
  std::vector<std::uint32_t> rank;   // by op
  std::vector<std::uint32_t> ops;    // by rank
  std::vector<std::uint32_t> first;  // of each rank in `ops`; one more at the end

  std::size_t ranks() const { return first.size() - 1; }
  std::span<const std::uint32_t> at(std::size_t r) const {
    return {ops.data() + first[r], first[r + 1] - first[r]};
  }
};
GraphOrder order_of(const OpGraph& graph, EdgeKinds kinds);

// Who can be reached from whom, for up to 64 sets of ops at a time: bit i of the answer for an op
// is set when a path leads to it from an op of sets[i], or it is one.
class Reach {
 public:
  Reach(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds)
      : graph_(graph), order_(order), kinds_(kinds) {}

  static constexpr std::size_t max_sets = 64;

  void start() { bits_.assign(order_.ranks(), 0); }
  void add(std::size_t set, OpId op) {
    bits_[order_.rank[index_of(op)]] |= std::uint64_t{1} << set;
  }
  void spread();
  std::uint64_t at(OpId op) const { return bits_[order_.rank[index_of(op)]]; }

 private:
  const OpGraph& graph_;
  const GraphOrder& order_;
  EdgeKinds kinds_;
  std::vector<std::uint64_t> bits_;  // by rank
};

}  // namespace npuscope::analysis
