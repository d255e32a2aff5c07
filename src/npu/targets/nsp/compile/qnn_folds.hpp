// What QNN's compiler makes of operators before it gives them places: several become one, groups of
// a convolution one each, limits part of what they limit.
#pragma once

#include <algorithm>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

void fold_as_qnn(Graph& graph);

// Its parts, a file each (qnn_activations.cpp and so on).
void fuse_norms(Graph& graph);
void fuse_activations(Graph& graph);
// Pads of zeros become part of the convolutions that read them.
void fuse_borders(Graph& graph);
// The windows of a first convolution become channels where the host's image has its channels last,
// as TensorFlow's do.
void gather_stems(Graph& graph);
bool gathers_columns(const Node& node);
// The host turns what it gives after it has quantised it: integers are less to move.
void quantize_before_turns(Graph& graph);
// Wide steps along one axis become channels.
void gather_strides(Graph& graph);
// Integers divided by a constant are the same integers of another scale, which what makes them
// gives.
void fold_quotients(Graph& graph);
// Functions of integers one after the other are one table.
void fuse_lookups(Graph& graph);
void turn_sums(Graph& graph);
void split_groups(Graph& graph);

inline bool is_output(const Graph& graph, TensorId id) {
  return std::ranges::find(graph.outputs, id) != graph.outputs.end();
}
// Whether one node alone reads it.
inline bool has_one_reader(const Graph& graph, TensorId id) {
  return graph[id].consumers.size() == 1 && !is_output(graph, id);
}
void remove_nodes(Graph& graph, const std::vector<bool>& gone);
// Of ONNX, with something to limit.
inline bool is_limit(const Node& node) {
  return (node.op == "Relu" || node.op == "Clip") && node.has_input(0);
}
inline bool is_sum(const Node& node) {
  return (node.op == "Add" || node.op == "Sum") && node.inputs.size() == 2;
}

}  // namespace npuscope::npu::nsp
