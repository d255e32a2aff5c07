// What flows between the nodes of a model in its compiled graph.
#pragma once

#include <vector>

#include "analysis/graph/graph_expected.hpp"

namespace npuscope::analysis {

// Pairs of different nodes between whose ops an edge leads, or a way over ops of no node. Sorted.
std::vector<NodePair> node_links(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds,
                                 const std::vector<std::uint32_t>& node_of_op, std::size_t nodes);

// Those of `pairs` (sorted) for which no way leads from an op of the one to an op of the other.
std::vector<NodePair> without_way(const OpGraph& graph, const GraphOrder& order, EdgeKinds kinds,
                                  const std::vector<std::uint32_t>& node_of_op,
                                  const std::vector<NodePair>& pairs, std::size_t nodes);

}  // namespace npuscope::analysis
