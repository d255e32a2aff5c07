// What the compiler knows about a network without running it.
#pragma once

#include "npu/compile/lowering.hpp"

namespace npuscope::npu {

// Adds to `metrics` what follows from the graph and the finished tasks.
void complete_metrics(const Graph& graph, const std::vector<NodePlan>& plans,
                      const LoweredNetwork& network, const qaic::Program& program,
                      CompileMetrics& metrics);

}  // namespace npuscope::npu
