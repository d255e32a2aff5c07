// Graphs for an HTP as QNN gets them from its front end for ONNX, and as its compiler takes them
// apart:
//
//   quantised operators work on integers; what quantises inputs and outputs stays with the host
//   floating point comes and goes with 32 bit and is cast to 16 on the HTP
//   images lie with channels last: those that the host gives and takes are transposed
//   convolutions with strides read an image whose places were sorted before (SpaceToDepth)
#pragma once

#include "npu/graph/graph.hpp"

namespace npuscope::npu::nsp {

Graph qnn_graph(const Graph& graph, bool convert_to_fp16);

}  // namespace npuscope::npu::nsp
