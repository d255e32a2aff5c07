// What products with constant weights and those of two activations have in common: bias, result,
// and the tasks of a tile.
#pragma once

#include "npu/nsp/compile/lower/product_operands.hpp"

namespace npuscope::npu::nsp {

class ProductTasks {
 public:
  ProductTasks(const CompileContext& context, TaskWriter& writer, Placement& place, Chains& chains)
      : context_(context),
        writer_(writer),
        place_(place),
        chains_(chains),
        shapes_(context, writer, place.operands) {}

  void load_bias(const ProductJob& job, std::vector<Operand>& operands);
  NodeResult make_result(const ProductJob& job, Layout layout);
  // One tile on all cores. A result that does not stay goes through the operators that follow, and
  // to DDR.
  void emit(const ProductJob& job, const ProductTile& tile, const NodeResult& result);
  const ProductOperands& shapes() const { return shapes_; }

 private:
  void store(const ProductJob& job, const ProductTile& tile, const NodeResult& result,
             BufferId made);

  const CompileContext& context_;
  TaskWriter& writer_;
  Placement& place_;
  Chains& chains_;
  const ProductOperands shapes_;
};

}  // namespace npuscope::npu::nsp
