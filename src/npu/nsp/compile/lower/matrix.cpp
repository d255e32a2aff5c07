#include <algorithm>

#include "npu/nsp/compile/lower/matrix_lowering.hpp"

namespace npuscope::npu::nsp {

ProductJob MatrixLowering::describe(const Node& node, const NodePlan& plan) const {
  ProductJob job;
  job.node = &node;
  job.plan = &plan;
  job.product = matrix_product(context_.graph, node);
  const Tensor& weights = context_.tensor(plan.weights);
  if (job.is_convolution()) {
    job.groups = job.product.batch;
  } else if (job.product.constant_weights && weights.shape.size() <= 2) {
    job.product.rows *= job.product.batch;  // one matrix for all: their rows are one product
    job.product.batch = 1;
  } else {
    job.groups = job.product.batch;
  }
  job.weight_bytes = context_.bytes_of(plan.weights);
  job.on_hmx = plan.integer || bits_of(context_.type_of(plan.activation)) <= 16;
  return job;
}

void MatrixLowering::lower(const Node& node, const NodePlan& plan) {
  ProductJob job = describe(node, plan);
  const MatrixProduct& product = job.product;
  if (product.rows == 0 || product.columns == 0 || product.depth == 0 || job.groups == 0) {
    return lower_empty(job);
  }
  const bool depthwise =
      job.is_convolution() && job.groups > 1 && product.depth == product.kernel_area;
  if (depthwise) return lower_depthwise(job);
  const std::uint64_t macs =
      product_work(context_, job, product.rows, product.columns, job.groups).macs;
  (job.on_hmx ? metrics_.hmx_macs : metrics_.non_hmx_macs) += macs;
  const bool constant = product.constant_weights && (job.is_convolution() || job.groups == 1);
  constant ? constant_.lower(job) : batch_.lower(job);
}

// Nothing to multiply: the result is only written.
void MatrixLowering::lower_empty(const ProductJob& job) {
  Node empty = *job.node;
  empty.outputs = {job.plan->result};
  empty.inputs = {job.plan->activation};
  vector_.lower(empty, OpClass::elementwise, kernel_named(context_.target, "aicconvolutiond32"));
}

// One input channel per group: on the HMX 31 of 32 depths would be padding, so HVX does it.
void MatrixLowering::lower_depthwise(const ProductJob& job) {
  const NodePlan& plan = *job.plan;
  const std::uint64_t macs = multiply_accumulates(context_.graph, *job.node);
  metrics_.non_hmx_macs += macs;
  const double macs_per_byte =
      double(macs) / double(std::max<std::uint64_t>(context_.bytes_of(plan.result), 1));
  VectorKernel kernel;
  kernel.name = "aicdepthwiseconvd32";
  kernel.cycles = [macs_per_byte, &target = context_.target,
                   type = context_.type_of(plan.activation)](std::uint64_t bytes) {
    return hvx_product_cycles(target, std::uint64_t(macs_per_byte * double(bytes)), type);
  };
  Node fused = *job.node;
  fused.outputs = {plan.result};
  fused.inputs = {plan.activation, plan.weights};
  vector_.lower(fused, OpClass::convolution, kernel);
}

// Every core takes its share of the output; the work is the operator's multiply-accumulates, padded
// as one product would be.
void MatrixLowering::lower_compound(const Node& node) {
  const MatrixProduct product = matrix_product(context_.graph, node);
  const bool on_hmx = bits_of(context_.type_of(node.outputs[0])) <= 16;
  const std::uint64_t plain = multiply_accumulates(context_.graph, node);
  const std::uint64_t padded =
      hmx_work(context_.target, product, product.rows, product.columns, false).macs * product.batch;
  VectorKernel kernel;
  kernel.name = "aicconvolutiond32";
  const double work = double(on_hmx ? std::max(plain, padded) : plain);
  std::uint64_t output_bytes = 0;
  for (TensorId id : node.outputs) output_bytes += id == TensorId::none ? 0 : context_.bytes_of(id);
  const double per_byte = work / double(std::max<std::uint64_t>(output_bytes, 1));
  if (on_hmx) {
    kernel.hmx_macs = std::uint64_t(work);
    metrics_.hmx_macs += kernel.hmx_macs;
    const double rate = context_.target.hmx_macs_per_cycle_fp16 * context_.target.hmx_efficiency;
    const double overhead = context_.target.hmx_overhead_cycles;
    kernel.cycles = [=](std::uint64_t bytes) {
      return std::uint64_t(overhead + per_byte * double(bytes) / rate);
    };
  } else {
    metrics_.non_hmx_macs += plain;
    const DataType type = context_.type_of(node.outputs[0]);
    kernel.cycles = [=, &target = context_.target](std::uint64_t bytes) {
      return hvx_product_cycles(target, std::uint64_t(per_byte * double(bytes)), type);
    };
  }
  vector_.lower(node, OpClass::matmul, kernel);
}

}  // namespace npuscope::npu::nsp
