// Matrix products and convolutions: on the HMX, on HVX in float32.
#pragma once

#include "npu/targets/nsp/compile/lower/product.hpp"
#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {

class MatrixLowering : LoweringPart {
 public:
  // Counts multiply-accumulates in `metrics`.
  MatrixLowering(const CompileContext& context, TaskWriter& writer, Placement& place,
                 CompileMetrics& metrics, Chains& chains, VectorLowering& vector)
      : LoweringPart(context, writer, place),
        metrics_(metrics),
        chains_(chains),
        vector_(vector),
        tasks_(context, writer, place, chains) {}

  void lower(const Node& node, const NodePlan& plan);
  // Attention, recurrent cells, Einsum: several products in one operator.
  void lower_compound(const Node& node);

 private:
  ProductJob describe(const Node& node, const NodePlan& plan) const;
  void shape_for_tiles(const Node& node, ProductJob& job) const;
  void multiply_blocks(ProductJob& job) const;
  void gather_places(std::uint64_t stride, ProductJob& job) const;
  void pad_single_row(ProductJob& job) const;
  void gather_windows(std::uint64_t stride, ProductJob& job) const;
  std::uint64_t packed_weights(const Node& node, const ProductJob& job) const;
  void lower_depthwise(const ProductJob& job);
  void lower_empty(const ProductJob& job);

  CompileMetrics& metrics_;
  Chains& chains_;
  VectorLowering& vector_;
  ProductTasks tasks_;
};

}  // namespace npuscope::npu::nsp
