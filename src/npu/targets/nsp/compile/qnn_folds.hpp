// What QNN's compiler makes of operators before it gives them places: several become one, groups of
// a convolution one each, limits part of what they limit.
#pragma once

#include <algorithm>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

void fold_as_qnn(Graph& graph);

inline bool is_output(const Graph& graph, TensorId id) {
  return std::ranges::find(graph.outputs, id) != graph.outputs.end();
}
// Of ONNX, with something to limit.
inline bool is_limit(const Node& node) {
  return (node.op == "Relu" || node.op == "Clip") && node.has_input(0);
}
inline bool is_sum(const Node& node) {
  return (node.op == "Add" || node.op == "Sum") && node.inputs.size() == 2;
}

}  // namespace npuscope::npu::nsp
