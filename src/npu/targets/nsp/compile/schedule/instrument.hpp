// Statistics: the tasks that write the buffer, and the descriptor that names what it holds.
#pragma once

#include "npu/targets/nsp/compile/lower/lowering.hpp"
#include "npu/targets/nsp/compile/schedule/schedule.hpp"

namespace npuscope::npu::nsp {

// Appends an aicendcyclestats to every queue: HVX and HMX when all other work of their core is
// done, DMAIssue after those. `program` has its instrumentation settings already.
void append_end_of_statistics(LoweredNetwork& network, Schedule& schedule, const Target& target,
                              const qaic::Program& program);

// `origin` maps the program's tasks to those of `network`.
qaic::NetworkDescriptor describe_network(const Graph& graph, const LoweredNetwork& network,
                                         const std::vector<TaskIndex>& origin,
                                         const qaic::Program& program,
                                         const CompileOptions& options);

// Bytes of the statistics buffer that the program writes.
std::uint64_t statistics_bytes(const qaic::Program& program);

}  // namespace npuscope::npu::nsp
