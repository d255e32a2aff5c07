// What the compiler knows about a network without running it.
#pragma once

#include "npu/targets/nsp/compile/lower/lowering.hpp"
#include "npu/targets/nsp/compile/schedule/schedule.hpp"

namespace npuscope::npu::nsp {

// Adds to `metrics` what follows from the graph and the finished tasks.
void complete_metrics(const Graph& graph, const std::vector<NodePlan>& plans,
                      const LoweredNetwork& network, const Schedule& schedule, const Target& target,
                      const qaic::Program& program, CompileMetrics& metrics);

// What -aic-perf-warnings says: what costs time, by how much, and what would change it.
std::vector<std::string> performance_warnings(const Graph& graph, const Target& target,
                                              const CompileMetrics& metrics);

}  // namespace npuscope::npu::nsp
