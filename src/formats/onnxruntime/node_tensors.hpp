// The tensors of a node, as ONNX Runtime writes them into its arguments.
//
//   tensors_in(R"([{"float":[1,3,64,64]},{"float":[16,3,3,3]}])")   two of 32 bits
//   const NodeTensors tensors{inputs, outputs};
//   has_all_weights("Gemm", tensors)   // false: packed in advance, the weight is not among them
//   set_tensors(tensors, "Conv", op, profile)   // shape, types, operands; MACs follow from them
//
// A weight that a kernel packed when the session began is in no list and in no count of bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::onnxruntime {

struct NodeTensor {
  std::string_view type;  // "float", "int64"
  std::vector<std::int64_t> extents;
};

struct NodeTensors {
  std::vector<NodeTensor> inputs, outputs;
};

// As far as the text is one.
std::vector<NodeTensor> tensors_in(std::string_view json);

bool has_all_weights(std::string_view op_type, const NodeTensors& tensors);
void set_tensors(const NodeTensors& tensors, std::string_view op_type, Op& op, Profile& profile);

}  // namespace npuscope::onnxruntime
