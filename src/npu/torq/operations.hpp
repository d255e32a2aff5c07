// What each operator is to a Torq NPU, alone: executor, kernel, sizes. Private to the lowering.
#pragma once

#include "npu/graph/semantics.hpp"
#include "npu/torq/lowering.hpp"

namespace npuscope::npu {

// Of a node that has something to execute. `nodes` holds the node.
TorqOperation operation_of(const Graph& graph, NodeId id, OpClass op_class,
                           const TorqTarget& target);

// Whether the activation unit, or the weights, can take the node in behind an operation: clamps
// behind everything that it scales, a batch normalization behind products.
bool can_take_in(const TorqOperation& operation, const Node& node);

// All of a tensor, as the NPU stores it.
std::uint64_t torq_bytes(const Tensor& tensor);

}  // namespace npuscope::npu
