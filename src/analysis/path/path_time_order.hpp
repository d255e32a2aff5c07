// Numbers the nodes of a path graph by when they start, so that what follows finds side by side
// what it looks at, and each comes after those that hold it back, but for nodes without length.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/path/path_graph.hpp"

namespace npuscope::analysis {

// How nodes were numbered before: unit by unit, each as its timeline was read.
struct NodeOrder {
  Column<std::uint32_t> node_of;      // by the number before
  Column<std::uint32_t> sequence_of;  // by node, the number before
};

// Those that start at once stay as they were. `first_of_unit`: of the nodes of each unit the first,
// and one more. Fills in the units; `queues` are put into the same order.
NodeOrder number_by_start(PathGraph& graph, const std::vector<std::uint32_t>& first_of_unit,
                          Column<Engine>& queues);

}  // namespace npuscope::analysis
