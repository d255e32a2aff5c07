// How long each class of constraints takes, and what no constraint explains.
#pragma once

#include "analysis/path/path_graph.hpp"

namespace npuscope::analysis {

// The least gap of each class of constraints is its latency, if there is reason to think that some
// start was due to it: of the constraints of its target, one with it was the last to end, or the
// target's start is not explained otherwise and the gap no longer than a latency already known.
// Fills in latencies and delays; starts of run_begin become those that the constraints give.
void find_latencies(PathGraph& graph);

}  // namespace npuscope::analysis
