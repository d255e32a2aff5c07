// The texts of an operator in the statistics descriptor: shapes, operands, attributes, in the form
// that the vendor's descriptor has them (formats/qaic.md section 3c).
#pragma once

#include <string>

#include "npuscope/npu/graph/graph.hpp"

namespace npuscope::npu {

// "Dest [1 x 32 x 4096], Src [1 x 32 x 4096], Src1 [4096 x 4096]"
std::string shapes_of(const Graph& graph, const Node& node);

// Distinct element types, results first: "float16, index32"
std::string types_of(const Graph& graph, const Node& node, bool convert_to_fp16);

// One operand a line: "out TCM Dest y float16 <1 x 32> 0KB"
std::string operands_of(const Graph& graph, const Node& node, bool convert_to_fp16);

// "{Kernels: [1, 1], Strides: [1, 1], Group: 1}" for convolutions; "" for others.
std::string attributes_of(const Node& node);

}  // namespace npuscope::npu
