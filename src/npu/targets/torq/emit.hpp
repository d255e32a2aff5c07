// From operations to the tables of a program: tasks that move tiles and start kernels.
#pragma once

#include "npu/targets/torq/compile.hpp"
#include "npu/targets/torq/lowering.hpp"

namespace npuscope::npu::torq {

// Fills program and operations of a compilation; an input error where the program gets too long.
Status emit(const Lowering& lowering, const Graph& graph, const Target& target,
            Compilation& compilation);

}  // namespace npuscope::npu::torq
