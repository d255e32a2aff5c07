// Graphs for an HTP as QNN gets them from its front end for ONNX, and as its compiler takes them
// apart:
//
//   quantised operators work on integers; what quantises inputs and outputs stays with the host
//   floating point comes and goes with 32 bit and is cast to 16 on the HTP
//   images lie with channels last: those that the host gives and takes are transposed
//   convolutions with strides read an image whose places were sorted before (SpaceToDepth)
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

Graph qnn_graph(const Graph& graph, bool convert_to_fp16);

// What sorts the places of a convolution's input for its strides, on HVX; empty: nothing does.
std::string_view sorting_for_strides(const Graph& graph, const Node& node);
// With such an operator before each convolution that needs one; nothing where none does.
std::optional<Graph> with_sorted_places(const Graph& graph);

// By tensor: images, whose second dimension are channels, as convolutions and windows make and read
// them. Others of four dimensions, such as the heads of attention, have their channels last.
std::vector<bool> find_images(const Graph& graph);
// As those, of convolutions along one axis: channels and places.
std::vector<bool> find_sequences(const Graph& graph);

}  // namespace npuscope::npu::nsp
