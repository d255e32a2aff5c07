// The order in which nodes can be taken: as the file has them when that works, which ONNX asks
// for, else sorted so that every node follows those it reads from.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/graph/onnx_source.hpp"

namespace npuscope::npu {

// Indices of `nodes`; linear in nodes and names. Throws ImportFailure for a cycle (naming its
// nodes) and for a name that two nodes make.
std::vector<std::uint32_t> topological_order(const std::vector<NodeSource>& nodes);

}  // namespace npuscope::npu
