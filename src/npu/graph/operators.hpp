// The operators that npuscope knows: for each its class, its shape function, and, where shape
// arithmetic needs it, how to compute its values at compile time. A file per family holds the rows,
// each of the operators that are treated alike:
//
//   {"Trilu", OpClass::copy, infer_same, fold_trilu},
//   {"Acos Acosh com.microsoft.FastGelu", OpClass::elementwise, infer_same},
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "npu/graph/operation.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {

struct OperatorRow {
  std::string_view names;  // a space between them, domains in front unless that is ai.onnx
  OpClass op_class;
  void (*infer)(Operation&);
  void (*fold)(Operation&) = nullptr;  // called when shapes are set; may leave values unknown
};

struct Operator {
  std::string_view name;
  OpClass op_class;
  void (*infer)(Operation&);
  void (*fold)(Operation&);
};

const std::vector<Operator>& every_operator();  // family by family
// nullptr when npuscope does not know the operator.
const Operator* find_operator(std::string_view domain, std::string_view op);

std::span<const OperatorRow> attention_operators();
std::span<const OperatorRow> convolution_operators();
std::span<const OperatorRow> elementwise_operators();
std::span<const OperatorRow> generator_operators();
std::span<const OperatorRow> indexing_operators();
std::span<const OperatorRow> layout_operators();
std::span<const OperatorRow> matmul_operators();
std::span<const OperatorRow> movement_operators();
std::span<const OperatorRow> normalization_operators();
std::span<const OperatorRow> pooling_operators();
std::span<const OperatorRow> quantization_operators();
std::span<const OperatorRow> recurrent_operators();
std::span<const OperatorRow> reduction_operators();
std::span<const OperatorRow> resize_operators();

// Shared by families: output 0 is as input 0.
void infer_same(Operation& op);

}  // namespace npuscope::npu
