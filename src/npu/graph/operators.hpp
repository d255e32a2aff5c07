// The operators that npuscope knows: for each its class, its shape function, and, where shape
// arithmetic needs it, how to compute its values at compile time. A file per family holds the rows,
// each of the operators that are treated alike:
//
//   {"Trilu", OpClass::copy, infer_same, fold_trilu},
//   {"Acos Acosh com.microsoft.FastGelu", OpClass::elementwise, infer_same},
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "npu/graph/operation.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu {

struct OperatorRow {
  std::string_view names;  // a space between them, domains in front unless that is ai.onnx
  OpClass op_class;
  void (*infer)(Operation&);
  void (*fold)(Operation&) = nullptr;  // called when shapes are set; may leave values unknown
  // The largest shapes that its outputs can have, where those depend on data.
  void (*bound)(Operation&) = nullptr;
};

struct Operator {
  std::string_view name;
  OpClass op_class;
  void (*infer)(Operation&);
  void (*fold)(Operation&);
  void (*bound)(Operation&);
};

const std::vector<Operator>& every_operator();  // family by family
// nullptr when npuscope does not know the operator.
const Operator* find_operator(std::string_view domain, std::string_view op);

std::span<const OperatorRow> attention_operators();
std::span<const OperatorRow> convolution_operators();
std::span<const OperatorRow> elementwise_operators();
std::span<const OperatorRow> expert_operators();
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
std::span<const OperatorRow> state_space_operators();

// Shared by families: output 0 is as input 0.
void infer_same(Operation& op);

// Computing small tensors at compile time, so that the shape arithmetic of real exporters (Shape,
// Gather, Concat, Mul, Cast ...) resolves. Each function takes an operation whose output shapes
// are set, and leaves values unknown when an input's are, or when the arithmetic has no result.

void fold_unary(Operation& op);   // Neg, Abs, Sqrt, Floor, Not ...
void fold_binary(Operation& op);  // Add ... Pow, comparisons, And ...: two or more inputs
void fold_where(Operation& op);
void fold_cast(Operation& op);
void fold_reduction(Operation& op, const std::vector<bool>& reduced);

// Data movement: the elements of an output in order, each named by input and row-major position.
struct ElementSource {
  std::size_t input = 0;
  std::size_t position = 0;
};
// `source_of` says where the element at an index of the output comes from.
void fold_movement(Operation& op, std::size_t output,
                   const std::function<ElementSource(const Shape& index)>& source_of);

// Output 0 has the elements of input 0 in their order (Reshape, Squeeze ...).
void fold_view(Operation& op);

// Walks a shape in row-major order: index() is the position along each axis.
class ShapeWalk {
 public:
  explicit ShapeWalk(const Shape& shape) : shape_(shape), index_(shape.size()) {}
  const Shape& index() const { return index_; }
  void next();

 private:
  const Shape& shape_;
  Shape index_;
};

// Row-major position of `index` in `shape`; axes of size 1 stretch, and leading axes that `shape`
// lacks are passed over (broadcasting).
std::size_t position_of(const Shape& index, const Shape& shape);

}  // namespace npuscope::npu
