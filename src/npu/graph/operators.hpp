// The operators that npuscope knows: for each its class, its shape function, and, where shape
// arithmetic needs it, how to compute its values at compile time. A file per family holds the rows:
//
//   {"Trilu", OpClass::copy, infer_same, fold_trilu},
//   {"com.microsoft.FastGelu", OpClass::elementwise, infer_same},
#pragma once

#include <span>
#include <string_view>

#include "npu/graph/operation.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {

struct Operator {
  std::string_view name;  // with its domain in front unless that is ai.onnx
  OpClass op_class;
  void (*infer)(Operation&);
  void (*fold)(Operation&) = nullptr;  // called when shapes are set; may leave values unknown
};

// nullptr when npuscope does not know the operator.
const Operator* find_operator(std::string_view domain, std::string_view op);

std::span<const Operator> attention_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> elementwise_operators();
std::span<const Operator> generator_operators();
std::span<const Operator> indexing_operators();
std::span<const Operator> layout_operators();
std::span<const Operator> matmul_operators();
std::span<const Operator> movement_operators();
std::span<const Operator> normalization_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> quantization_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> resize_operators();

// Shared by families: output 0 is as input 0.
void infer_same(Operation& op);

}  // namespace npuscope::npu
