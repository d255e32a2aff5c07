// All links of a path graph by the nodes that they lead to.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/path/path_stepwise.hpp"

namespace npuscope::analysis {

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

}  // namespace npuscope::analysis
