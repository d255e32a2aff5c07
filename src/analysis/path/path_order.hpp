// Puts the nodes of a path graph into an order in which each comes after those that hold it back,
// where that of their starts is none: of nodes without length, and of those that are of no span.
#pragma once

#include "analysis/path/path_nodes.hpp"

namespace npuscope::analysis {

// Only nodes that begin at one moment can hold each other back in a ring; the constraint that would
// close it is taken out and counted in the basis. Nodes get new numbers.
void put_in_order(PathGraph& graph, const PathNodes& nodes);

}  // namespace npuscope::analysis
