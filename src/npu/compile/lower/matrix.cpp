// Matrix products and convolutions: on the HMX, on HVX in float32.
//
// With constant weights the cores share the work by columns (each core streams its own columns'
// weights from DDR; all need the whole activation) or by rows (each core has rows of the
// activation; every weight is read from DDR once and multicast). Whichever takes less time is
// chosen. Without (attention) the batch is shared, head by head.
#include <algorithm>
#include <cmath>

#include "npu/compile/lower/matrix_lowering.hpp"

namespace npuscope::npu {
MatrixLowering::MatrixJob MatrixLowering::describe(const Node& node, const NodePlan& plan) const {
  MatrixJob job;
  job.node = &node;
  job.plan = &plan;
  job.product = matrix_product(graph_, node);
  const Tensor& weights = tensor(plan.weights);
  if (plan.op_class == OpClass::convolution) {
    job.groups = job.product.batch;
  } else if (job.product.constant_weights && weights.shape.size() <= 2) {
    job.product.rows *= job.product.batch;  // one matrix for all: their rows are one product
    job.product.batch = 1;
  } else {
    job.groups = job.product.batch;
  }
  job.weight_bytes = bytes_of(plan.weights);
  job.on_hmx = plan.integer || bits_of(type_of(plan.activation)) <= 16;
  return job;
}

std::uint64_t MatrixLowering::product_cycles(const MatrixJob& job, std::uint64_t rows,
                                             std::uint64_t columns, std::uint64_t groups,
                                             std::uint64_t* macs) const {
  if (job.on_hmx) {
    const HmxWork one = hmx_work(target_, job.product, rows, columns, job.plan->integer);
    const auto overhead = std::uint64_t(std::llround(target_.hmx_overhead_cycles));
    if (macs != nullptr) *macs = one.macs * groups;
    return (one.cycles - overhead) * groups + overhead;
  }
  const std::uint64_t plain = rows * columns * job.product.depth * groups;
  if (macs != nullptr) *macs = plain;
  return hvx_product_cycles(target_, plain, type_of(job.plan->activation));
}

// Columns are dealt out in whole d32 blocks, or in whole heads where the result is next seen as
// heads.
std::int64_t MatrixLowering::column_unit(TensorId result) const {
  const Shape& shape = tensor(result).shape;
  const std::int64_t grain = target_.hmx_alignment;
  TensorId id = result;
  for (int steps = 0; steps < 4 && tensor(id).consumers.size() == 1; ++steps) {
    const NodeId consumer = tensor(id).consumers[0];
    if (plans_[std::uint32_t(consumer)].fate != NodeFate::view) break;
    id = graph_[consumer].outputs[0];
    const Shape& view = tensor(id).shape;
    if (!view.empty() && !shape.empty() && view.back() > 1 && view.back() < shape.back() &&
        shape.back() % view.back() == 0) {
      return view.back();
    }
  }
  return grain;
}

void MatrixLowering::choose_product_partition(MatrixJob& job) const {
  const TensorId result = job.plan->result;
  const Shape& shape = tensor(result).shape;
  const bool convolution = job.plan->op_class == OpClass::convolution;
  const int column_axis = convolution ? 1 : int(shape.size()) - 1;
  job.partition = {shape, replicated, 1};
  job.by_columns = true;
  if (cores_ == 1 || shape.empty()) return;
  const std::int64_t group_columns = std::int64_t(job.product.columns);
  const std::int64_t unit = job.groups > 1 ? group_columns : column_unit(result);
  const Partition columns{shape, column_axis, unit};
  Partition rows{shape, replicated, 1};
  for (int axis = 0; axis < int(shape.size()); ++axis) {
    if (axis == column_axis || (convolution && axis > 2)) continue;
    const bool larger = rows.axis < 0 || shape[std::size_t(axis)] > shape[std::size_t(rows.axis)];
    const bool first_fits = rows.axis >= 0 && shape[std::size_t(rows.axis)] >= std::int64_t(cores_);
    if (larger && !first_fits) rows.axis = axis;
  }
  const double clock = target_.core_hz;
  const double ddr = target_.ddr_bytes_per_s * target_.ddr_efficiency;
  const double link = target_.multicast_bytes_per_s_per_core;
  const double loading = double(job.weight_bytes) / ddr;
  const auto by_columns = shares(shape[std::size_t(column_axis)], unit, cores_);
  const std::uint64_t column_groups =
      job.groups > 1 ? divide_up(by_columns[0], std::uint64_t(group_columns)) : 1;
  const std::uint64_t column_count = job.groups > 1 ? job.product.columns : by_columns[0];
  const double column_work =
      double(product_cycles(job, job.product.rows, column_count, column_groups, nullptr)) / clock;
  // The result by columns will have to be gathered as well before the next product.
  const double gather = double(bytes_of(job.plan->activation) + bytes_of(job.plan->result)) / link;
  const double column_time = std::max(column_work, loading) + gather;
  if (rows.axis < 0 || shape[std::size_t(rows.axis)] <= 1) {
    job.partition = columns;
    return;
  }
  const std::int64_t extent = shape[std::size_t(rows.axis)];
  const std::uint64_t max = shares(extent, 1, cores_)[0];
  const std::uint64_t row_count = divide_up(job.product.rows * max, std::uint64_t(extent));
  const double row_work =
      double(product_cycles(job, row_count, job.product.columns, job.groups, nullptr)) / clock;
  const double row_time = std::max(row_work, loading) + double(job.weight_bytes) / link;
  job.by_columns = column_time <= row_time;
  job.partition = job.by_columns ? columns : rows;
}

void MatrixLowering::lower_matrix(const Node& node, const NodePlan& plan) {
  MatrixJob job = describe(node, plan);
  const MatrixProduct& product = job.product;
  if (product.rows == 0 || product.columns == 0 || product.depth == 0 || job.groups == 0) {
    Node empty = node;  // nothing to multiply
    empty.outputs = {plan.result};
    empty.inputs = {plan.activation};
    return lower_vector(empty, OpClass::elementwise, kernel_named("aicconvolutiond32"));
  }
  const bool depthwise = plan.op_class == OpClass::convolution && job.groups > 1 &&
                         job.product.depth == job.product.kernel_area;
  if (depthwise) return lower_depthwise(node, plan);
  const std::uint64_t macs = job.product.rows * job.product.columns * job.product.depth *
                             std::max<std::uint64_t>(job.groups, 1);
  if (job.on_hmx) {
    metrics_.hmx_macs +=
        hmx_work(target_, job.product, job.product.rows, job.product.columns, plan.integer).macs *
        job.groups;
  } else {
    metrics_.non_hmx_macs += macs;
  }
  const bool constant =
      job.product.constant_weights && (plan.op_class == OpClass::convolution || job.groups == 1);
  if (constant) {
    lower_constant_product(job);
  } else {
    lower_dynamic_product(job);
  }
}

// One input channel per group: on the HMX 31 of 32 depths would be padding, so HVX does it.
void MatrixLowering::lower_depthwise(const Node& node, const NodePlan& plan) {
  const MatrixJob job = describe(node, plan);
  const std::uint64_t macs = multiply_accumulates(graph_, node);
  metrics_.non_hmx_macs += macs;
  const double macs_per_byte =
      double(macs) / double(std::max<std::uint64_t>(bytes_of(plan.result), 1));
  const DataType type = type_of(plan.activation);
  const VectorKernel kernel{"aicdepthwiseconvd32", [=, this](std::uint64_t bytes) {
                              return hvx_product_cycles(
                                  target_, std::uint64_t(macs_per_byte * double(bytes)), type);
                            }};
  Node fused = node;
  fused.outputs = {plan.result};
  fused.inputs = {plan.activation, plan.weights};
  lower_vector(fused, OpClass::convolution, kernel);
}

// Attention, recurrent cells, Einsum: several products in one operator. Every core takes its share
// of the output; the work is the operator's multiply-accumulates, padded as one product would be.
void MatrixLowering::lower_compound(const Node& node) {
  const MatrixProduct product = matrix_product(graph_, node);
  const bool on_hmx = bits_of(type_of(node.outputs[0])) <= 16;
  const std::uint64_t plain = multiply_accumulates(graph_, node);
  const std::uint64_t padded =
      hmx_work(target_, product, product.rows, product.columns, false).macs * product.batch;
  VectorKernel kernel;
  kernel.name = "aicconvolutiond32";
  const double work = double(on_hmx ? std::max(plain, padded) : plain);
  std::uint64_t output_bytes = 0;
  for (TensorId id : node.outputs) output_bytes += id == TensorId::none ? 0 : bytes_of(id);
  const double per_byte = work / double(std::max<std::uint64_t>(output_bytes, 1));
  if (on_hmx) {
    kernel.hmx_macs = std::uint64_t(work);
    metrics_.hmx_macs += kernel.hmx_macs;
    const double rate = target_.hmx_macs_per_cycle_fp16 * target_.hmx_efficiency;
    const double overhead = target_.hmx_overhead_cycles;
    kernel.cycles = [=](std::uint64_t bytes) {
      return std::uint64_t(overhead + per_byte * double(bytes) / rate);
    };
  } else {
    metrics_.non_hmx_macs += plain;
    const DataType type = type_of(node.outputs[0]);
    kernel.cycles = [=, this](std::uint64_t bytes) {
      return hvx_product_cycles(target_, std::uint64_t(per_byte * double(bytes)), type);
    };
  }
  lower_vector(node, OpClass::matmul, kernel);
}

}  // namespace npuscope::npu
