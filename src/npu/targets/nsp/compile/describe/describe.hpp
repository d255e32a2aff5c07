// What is said of a compiled network without running it: its metrics, the statistics that it will
// write and the descriptor that names them, and the schematic of an HTP.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/qaic/qpc/schematic.hpp"
#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/compile/lower/lowering.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {

// What the compiler knows about a network without running it.

// Adds to `metrics` what follows from the model as written, the graph that was lowered, and the
// finished tasks.
void complete_metrics(const Graph& model, const Graph& graph, const LoweredNetwork& network,
                      const Schedule& schedule, const Target& target, const qaic::Program& program,
                      CompileMetrics& metrics);

// What -aic-perf-warnings says: what costs time, by how much, and what would change it.
std::vector<std::string> performance_warnings(const Graph& graph, const Target& target,
                                              const CompileMetrics& metrics);

// Statistics: the tasks that write the buffer, and the descriptor that names what it holds.

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

// The schematic of a compiled network: its tasks as the HTP's tools name them, and who makes what
// each reads.

// The network's accesses were logged, it is for one core, and `origin` maps the program's tasks to
// those of `network`.
qaic::Schematic make_schematic(const Graph& graph, const LoweredNetwork& network,
                               const std::vector<TaskIndex>& origin, const qaic::Program& program,
                               const CompileOptions& options);

}  // namespace npuscope::npu::nsp
