// From operations to the tables of a program: tasks that move tiles and start kernels.
#pragma once

#include "npu/torq/lowering.hpp"
#include "npuscope/npu/torq/compile.hpp"

namespace npuscope::npu {

// Fills program and operations of a compilation; an input error where the program gets too long.
Status emit_torq(const TorqLowering& lowering, const Graph& graph, const TorqTarget& target,
                 TorqCompilation& compilation);

}  // namespace npuscope::npu
