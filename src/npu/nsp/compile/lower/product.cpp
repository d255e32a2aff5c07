#include "npu/nsp/compile/lower/product.hpp"

#include <algorithm>
#include <cmath>

namespace npuscope::npu::nsp {
namespace {

// Columns are dealt out in whole d32 blocks, or in whole heads where the result is next seen as
// heads.
std::int64_t column_unit(const CompileContext& context, TensorId result) {
  const Shape& shape = context.tensor(result).shape;
  const std::int64_t grain = context.target.hmx_alignment;
  TensorId id = result;
  for (int steps = 0; steps < 4 && context.tensor(id).consumers.size() == 1; ++steps) {
    const NodeId consumer = context.tensor(id).consumers[0];
    if (context.plans[std::uint32_t(consumer)].fate != NodeFate::view) break;
    id = context.graph[consumer].outputs[0];
    const Shape& view = context.tensor(id).shape;
    if (!view.empty() && !shape.empty() && view.back() > 1 && view.back() < shape.back() &&
        shape.back() % view.back() == 0) {
      return view.back();
    }
  }
  return grain;
}

}  // namespace

ProductWork product_work(const CompileContext& context, const ProductJob& job, std::uint64_t rows,
                         std::uint64_t columns, std::uint64_t groups) {
  if (job.on_hmx) {
    const HmxWork one = hmx_work(context.target, job.product, rows, columns, job.plan->integer);
    const auto overhead = std::uint64_t(std::llround(context.target.hmx_overhead_cycles));
    return {(one.cycles - overhead) * groups + overhead, one.macs * groups};
  }
  const std::uint64_t macs = rows * columns * job.product.depth * groups;
  return {hvx_product_cycles(context.target, macs, context.type_of(job.plan->activation)), macs};
}

void choose_product_partition(const CompileContext& context, ProductJob& job) {
  const TensorId result = job.plan->result;
  const Shape& shape = context.tensor(result).shape;
  const bool convolution = job.is_convolution();
  const int column_axis = convolution ? 1 : int(shape.size()) - 1;
  job.partition = {shape, replicated, 1};
  job.by_columns = true;
  if (context.cores == 1 || shape.empty()) return;
  const std::int64_t group_columns = std::int64_t(job.product.columns);
  const std::int64_t unit = job.groups > 1 ? group_columns : column_unit(context, result);
  const Partition columns{shape, column_axis, unit};
  Partition rows{shape, replicated, 1};
  for (int axis = 0; axis < int(shape.size()); ++axis) {
    if (axis == column_axis || (convolution && axis > 2)) continue;
    const bool larger = rows.axis < 0 || shape[std::size_t(axis)] > shape[std::size_t(rows.axis)];
    const bool first_fits =
        rows.axis >= 0 && shape[std::size_t(rows.axis)] >= std::int64_t(context.cores);
    if (larger && !first_fits) rows.axis = axis;
  }
  const double clock = context.target.core_hz;
  const double ddr = context.target.ddr_bytes_per_s * context.target.ddr_efficiency;
  const double link = context.target.multicast_bytes_per_s_per_core;
  const double loading = double(job.weight_bytes) / ddr;
  const auto by_columns = shares(shape[std::size_t(column_axis)], unit, context.cores);
  const std::uint64_t column_groups =
      job.groups > 1 ? divide_up(by_columns[0], std::uint64_t(group_columns)) : 1;
  const std::uint64_t column_count = job.groups > 1 ? job.product.columns : by_columns[0];
  const double column_work =
      double(product_work(context, job, job.product.rows, column_count, column_groups).cycles) /
      clock;
  // The result by columns will have to be gathered as well before the next product.
  const double gather =
      double(context.bytes_of(job.plan->activation) + context.bytes_of(job.plan->result)) / link;
  const double column_time = std::max(column_work, loading) + gather;
  if (rows.axis < 0 || shape[std::size_t(rows.axis)] <= 1) {
    job.partition = columns;
    return;
  }
  const std::int64_t extent = shape[std::size_t(rows.axis)];
  const std::uint64_t max_share = shares(extent, 1, context.cores)[0];
  const std::uint64_t row_count = divide_up(job.product.rows * max_share, std::uint64_t(extent));
  const double row_work =
      double(product_work(context, job, row_count, job.product.columns, job.groups).cycles) / clock;
  const double row_time = std::max(row_work, loading) + double(job.weight_bytes) / link;
  job.by_columns = column_time <= row_time;
  job.partition = job.by_columns ? columns : rows;
}

}  // namespace npuscope::npu::nsp
