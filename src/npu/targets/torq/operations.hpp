// What each operator is to a Torq NPU, alone: executor, kernel, sizes. Private to the lowering.
#pragma once

#include "npu/graph/semantics.hpp"
#include "npu/targets/torq/lowering.hpp"

namespace npuscope::npu::torq {

// Of a node that has something to execute. `nodes` holds the node.
Operation operation_of(const Graph& graph, NodeId id, OpClass op_class, const Target& target);

// Whether the activation unit, or the weights, can take the node in behind an operation: clamps
// behind everything that it scales, a batch normalization behind products.
bool can_take_in(const Operation& operation, const Node& node);

// All of a tensor, as the NPU stores it.
std::uint64_t storage_bytes(const Tensor& tensor);

}  // namespace npuscope::npu::torq
