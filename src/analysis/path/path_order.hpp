// Puts the links of a path graph to their nodes, and its nodes into an order in which each comes
// after those that hold it back.
#pragma once

#include "analysis/path/path_links.hpp"

namespace npuscope::analysis {

// Only nodes that begin at one moment can hold each other back in a ring; the constraint that would
// close it is taken out and counted in the basis. Nodes get new numbers.
void put_in_order(PathGraph& graph, LooseLinks loose);

}  // namespace npuscope::analysis
