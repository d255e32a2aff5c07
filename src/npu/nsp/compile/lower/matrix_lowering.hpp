// Matrix products and convolutions: on the HMX, on HVX in float32.
#pragma once

#include "npu/nsp/compile/lower/batch_products.hpp"
#include "npu/nsp/compile/lower/constant_products.hpp"
#include "npu/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {

class MatrixLowering {
 public:
  // Counts multiply-accumulates in `metrics`.
  MatrixLowering(const CompileContext& context, TaskWriter& writer, Placement& place,
                 CompileMetrics& metrics, Chains& chains, VectorLowering& vector)
      : context_(context),
        metrics_(metrics),
        vector_(vector),
        tasks_(context, writer, place, chains),
        constant_(context, writer, place, chains, tasks_),
        batch_(context, writer, place, tasks_) {}

  void lower(const Node& node, const NodePlan& plan);
  // Attention, recurrent cells, Einsum: several products in one operator.
  void lower_compound(const Node& node);

 private:
  ProductJob describe(const Node& node, const NodePlan& plan) const;
  void lower_depthwise(const ProductJob& job);
  void lower_empty(const ProductJob& job);

  const CompileContext& context_;
  CompileMetrics& metrics_;
  VectorLowering& vector_;
  ProductTasks tasks_;
  ConstantProducts constant_;
  BatchProducts batch_;
};

}  // namespace npuscope::npu::nsp
