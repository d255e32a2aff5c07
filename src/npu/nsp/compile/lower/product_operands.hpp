// What a task of a matrix product reads and writes: rows x depth times depth x columns, in the
// dimensions of the tensors that they are parts of.
#pragma once

#include "npu/nsp/compile/lower/product.hpp"

namespace npuscope::npu::nsp {

class ProductOperands {
 public:
  ProductOperands(const CompileContext& context, const TaskWriter& writer, const Operands& operands)
      : context_(context), writer_(writer), operands_(operands) {}

  // Of one core's task of a tile, in its own shapes.
  std::vector<TaskOperand> of(const ProductJob& job, const ProductTile& tile,
                              std::uint32_t core) const;
  // Whether two cores' tasks of a tile have operands of the same shapes.
  bool alike(const ProductJob& job, const ProductTile& tile, std::uint32_t a,
             std::uint32_t b) const;
  CoreShapes results(const ProductJob& job, const ProductTile& tile) const;
  // Of a chunk of the weights: of whole columns, where its bytes are those of the tile's columns.
  Shape chunk(const ProductJob& job, const ProductTile& tile, std::uint64_t depth,
              std::uint32_t core, std::uint64_t bytes) const;

 private:
  Shape result(const ProductJob& job, const ProductTile& tile, std::uint32_t core) const;
  Shape image(const ProductJob& job, const ProductTile& tile, std::uint32_t core) const;
  Shape activation(const ProductJob& job, const ProductTile& tile, const Shape& made,
                   std::uint32_t core) const;
  Shape weights(const ProductJob& job, const Shape& made, std::uint64_t columns,
                std::uint64_t groups, std::uint64_t depth) const;
  TaskOperand bias(const Operand& bias, std::int64_t columns, std::uint32_t core) const;

  const CompileContext& context_;
  const TaskWriter& writer_;
  const Operands& operands_;
};

}  // namespace npuscope::npu::nsp
