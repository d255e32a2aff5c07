// What becomes of every node before tiles are cut: executed, folded away, a mere view, or part of
// the matrix product before it (bias, batch normalisation, activation, requantisation).
#pragma once

#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::nsp {

enum class NodeFate : std::uint8_t { execute, folded, view, fused };

struct NodePlan {
  NodeFate fate = NodeFate::execute;
  OpClass op_class = OpClass::elementwise;
  // Of matrix products: where the fused result goes, the operands behind DequantizeLinear, the
  // bias.
  TensorId result = TensorId::none;
  TensorId activation = TensorId::none;
  TensorId weights = TensorId::none;
  std::vector<TensorId> fused_constants;  // bias, folded normalisation parameters
  bool integer = false;                   // int8 by int8
  bool compound = false;  // several products in one operator: attention, LSTM, Einsum
};

std::vector<NodePlan> plan_nodes(const Graph& graph);

}  // namespace npuscope::npu::nsp
