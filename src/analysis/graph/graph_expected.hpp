// The graph that somebody wrote against the graph that a compiler made of it:
//
//   const GraphMatch match = match_graph(profile, graph, expected);
//   match.nodes[3].fate        // fused: no op of its own
//   match.nodes[3].into        // the node whose ops do its work
//   match.nodes[3].evidence    // position: an edge leads from its producer's ops to its consumer's
//   match.inserted[op]         // load: the compiler's own, of no node of the model
//   match.missing              // dependencies of the model that the compiled graph lacks
//   match.unexpected           // data that flows between nodes which do not depend on each other
//
// Nodes find their ops by name: their own, that of a result, several joined by +, or one that
// begins with it; then by what stands around them and by kind and shape. Time grows with the ops
// and edges times the nodes / 64.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/analysis/graph.hpp"

namespace npuscope::analysis {

constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

struct ExpectedTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  bool is_constant = false;
  std::uint32_t producer = no_node;
};

enum class ExpectedRole : std::uint8_t {
  executes,
  folded,  // its results are known when the model is compiled
  view,    // moves no data: Reshape, Identity
};

struct ExpectedNode {
  std::string name;
  std::string op;  // "MatMul"
  ExpectedRole role = ExpectedRole::executes;
  std::vector<std::uint32_t> inputs, outputs;  // tensors
};

// Nodes are in an order in which producers come before consumers.
struct ExpectedGraph {
  std::string name;
  std::vector<ExpectedNode> nodes;
  std::vector<ExpectedTensor> tensors;
  std::vector<std::uint32_t> outputs;  // tensors
};

enum class NodeFate : std::uint8_t { kept, split, fused, vanished, unmatched };
constexpr std::size_t node_fates = 5;

enum class MatchEvidence : std::uint8_t {
  none,
  name,          // an op bears the node's name
  joined_name,   // an op bears the names of several nodes
  tensor_name,   // an op bears the name of its result
  source,        // an op names its operator by its place in the source of the model
  derived_name,  // an op's name begins with its name, or differs in punctuation only
  neighbours,    // the only node of its kind and shape between the same neighbours
  order,         // as many nodes as ops of one kind and shape, in the same order
  position,      // no op, but its neighbours are next to each other
  meaning,       // nothing to execute
};

// What an op does that no node of a model asks for.
enum class InsertedKind : std::uint8_t {
  none,
  format_conversion,
  load,   // memory to the core's own
  store,  // and back
  multicast,
  spill,
  fill,
  slice,
  copy,
  reshape,
  sync,
  wait,
  statistics,
};
constexpr std::size_t inserted_kinds = 13;
InsertedKind inserted_kind_of(std::string_view kind, std::string_view attributes);

struct NodeMatch {
  NodeFate fate = NodeFate::unmatched;
  MatchEvidence evidence = MatchEvidence::none;
  std::uint32_t into = no_node;  // of a fused one
  std::uint32_t ops = 0;         // those that do its work, without what was inserted for it
  const char* why = "";
};

struct NodePair {
  std::uint32_t from = no_node, to = no_node;
  bool operator==(const NodePair&) const = default;
  auto operator<=>(const NodePair&) const = default;
};

struct GraphMatch {
  std::vector<NodeMatch> nodes;
  std::vector<std::uint32_t> node_of_op;  // no_node: of none
  // By op: none for those that do the work of a node, and for unmatched ones that compute.
  std::vector<InsertedKind> inserted;
  std::vector<OpId> unmatched_ops;  // they compute, but of which node is not known
  std::uint64_t dependencies = 0;   // between nodes with ops, in the model
  std::uint64_t by_queue = 0;       // of those: kept only because one queue runs both in this order
  std::vector<NodePair> missing;    // of those: nothing leads from the one's ops to the other's
  std::vector<NodePair> unexpected;  // direct data between nodes that are independent in the model
  bool edges_known = false;          // without edges neither can be told
};

// `compiled` is by op, 0 for one that only bears a name (GraphFacts): lists of the model's
// operators say nothing of what became of them. Empty: all ops are of the compiled graph.
GraphMatch match_graph(const Profile& profile, const OpGraph& graph, const ExpectedGraph& expected,
                       std::span<const std::uint8_t> compiled = {});

}  // namespace npuscope::analysis
