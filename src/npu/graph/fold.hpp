// Computing small tensors at compile time, so that the shape arithmetic of real exporters (Shape,
// Gather, Concat, Mul, Cast ...) resolves. Each function takes an operation whose output shapes
// are set, and leaves values unknown when an input's are, or when the arithmetic has no result.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "npu/graph/operation.hpp"

namespace npuscope::npu {

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
