// Which way of lowering a network is taken: with all cores, or with as many as do it faster. A
// batch of 8 goes evenly to 4 cores, and not to 6.
#pragma once

#include <optional>

#include "npu/targets/nsp/compile/lower/lowering.hpp"

namespace npuscope::npu::nsp {

struct LoweredProgram {
  std::optional<Graph> remade;  // the graph as it was lowered, where that is not as it came
  LoweredNetwork network;
  Schedule schedule;
};

// Never slower, nor with more spill, than with one core fewer, as far as can be estimated; of
// programs with very many tasks fewer ways are tried. Throws LoweringFailure.
LoweredProgram lower_for_best_cores(const Graph& graph, const Target& target,
                                    const CompileOptions& options, bool log_accesses);

}  // namespace npuscope::npu::nsp
