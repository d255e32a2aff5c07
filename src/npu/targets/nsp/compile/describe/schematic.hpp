// The schematic of a compiled network: its tasks as the HTP's tools name them, and who makes what
// each reads.
#pragma once

#include "formats/qaic/qpc/schematic.hpp"
#include "npu/targets/nsp/compile/lower/lowering.hpp"

namespace npuscope::npu::nsp {

// The network's accesses were logged, it is for one core, and `origin` maps the program's tasks to
// those of `network`.
qaic::Schematic make_schematic(const Graph& graph, const LoweredNetwork& network,
                               const std::vector<TaskIndex>& origin, const qaic::Program& program,
                               const CompileOptions& options);

}  // namespace npuscope::npu::nsp
