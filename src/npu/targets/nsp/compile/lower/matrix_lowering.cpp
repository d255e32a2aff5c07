#include "npu/targets/nsp/compile/lower/matrix_lowering.hpp"

#include <algorithm>

#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {
namespace {

bool kernel_is_stride(const Node& node) {
  return node.ints_attribute("kernel_shape") == node.ints_attribute("strides");
}

std::string depthwise_kernel(const CompileContext& context, const Node& node) {
  const bool large = std::ranges::any_of(node.ints_attribute("kernel_shape"),
                                         [](std::int64_t extent) { return extent > 3; });
  return large && context.target.vector_tile_bytes > 0 ? "aicdepthwiselarged32"
                                                       : "aicdepthwiseconvd32";
}

std::uint64_t stride_of(const Node& node) {
  const auto strides = node.ints_attribute("strides");
  return strides.empty() ? 1 : std::uint64_t(std::max<std::int64_t>(strides[0], 1));
}

bool is_dilated(const Node& node) {
  return std::ranges::any_of(node.ints_attribute("dilations"),
                             [](std::int64_t extent) { return extent > 1; });
}

bool is_depthwise(const ProductJob& job) {
  return job.is_convolution() && job.groups > 1 && job.product.depth == job.product.kernel_area;
}

constexpr std::uint64_t few_channels = 4;  // packed in fours: no more are images of cameras

}  // namespace

// Images in tiles of 8 by 8 places.
void MatrixLowering::shape_for_tiles(const Node& node, ProductJob& job) const {
  const bool transposed = node.op == "ConvTranspose";
  const Shape& made = context_.tensor(transposed ? node.inputs[0] : node.outputs[0]).shape;
  MatrixProduct& product = job.product;
  const bool sequence = made.size() == 3 && product.kernel_area > 1 && !transposed;
  if ((made.size() != 4 && !sequence) || product.rows == 0) return;
  const auto padded = [](std::int64_t extent) {
    return round_up(std::uint64_t(extent), std::uint64_t{8});
  };
  // Places along one axis are an image of one row, which takes eight.
  const bool one_row = sequence && (job.plan->integer || job.groups > 1);
  const std::uint64_t places = !sequence ? padded(made[2]) * padded(made[3])
                               : one_row ? padded(1) * padded(made[2])
                                         : padded(made[2]);
  job.padding = double(std::uint64_t(made[0]) * places) / double(product.rows);
  const std::uint64_t stride = stride_of(node);
  if (transposed) return gather_windows(stride, job);
  job.in_place = stride < 2;
  const std::uint64_t grain = context_.target.hmx_alignment;
  const std::uint64_t channels = divide_up(product.depth, product.kernel_area);
  const bool integer = job.plan->integer;
  const bool on_hvx = job.groups > 1 && channels == 1 && stride > 1 && integer;
  const std::uint64_t columns = product.columns * job.groups;
  constexpr std::uint64_t own_columns = 16;  // of each of the convolutions that groups become
  if (job.groups > 1 && channels > 1 && channels <= grain && integer &&
      columns % own_columns == 0) {
    product.depth = grain * product.kernel_area;
    product.columns = own_columns;
    product.batch = job.groups = columns / own_columns;
  } else if (job.groups > 1 && channels < grain && !on_hvx) {
    // Blocks of channels are multiplied whole; integers of one channel each two places at a time.
    if (channels == 1 && integer) product.kernel_area = divide_up(product.kernel_area, 2);
    multiply_blocks(job);
  } else if (stride > 1 && job.groups == 1 && kernel_is_stride(node)) {  // patches side by side
    product.depth = round_up(product.depth, grain);
    product.kernel_area = 1;
  } else if (sequence && stride > 1 && !integer && job.groups == 1 &&
             context_.target.hmx_strided_sequence_places_fp16 > 0) {
    job.padding *= 8;  // an image of one row after all
    product.kernel_area = context_.target.hmx_strided_sequence_places_fp16;
    product.depth = channels * product.kernel_area;
  } else if (!on_hvx) {
    // So is one without a border.
    const auto is_none = [](std::int64_t pad) { return pad == 0; };
    if (sequence && !integer && job.groups == 1 &&
        std::ranges::all_of(node.ints_attribute("pads"), is_none))
      job.padding *= 8;
    gather_places(stride, job);
  }
  const bool long_rows = sequence && integer && stride < 2 && job.groups == 1 && columns > 1 &&
                         product.kernel_area > 3;
  const bool gaps = is_dilated(node) && !(sequence && integer);
  if ((gaps || long_rows) && !on_hvx) {
    job.slowdown = integer ? context_.target.hmx_dilated_int8 : context_.target.hmx_dilated_fp16;
  }
}

// Of tiles of eight rows of places the first alone is full.
void MatrixLowering::pad_single_row(ProductJob& job) const {
  constexpr std::uint64_t rows_of_a_tile = 8;
  const std::uint64_t places = job.plan->integer ? 8 : 4;
  job.padding = double(rows_of_a_tile * round_up(job.product.rows, places)) /
                double(std::max<std::uint64_t>(job.product.rows, 1));
}

// A transposed convolution is one of places apart: of each place that it spreads to, tiles of its
// own channels, from as many places as reach there.
void MatrixLowering::gather_windows(std::uint64_t stride, ProductJob& job) const {
  const auto kernel = job.node->ints_attribute("kernel_shape");
  MatrixProduct& product = job.product;
  std::uint64_t area = 1, reach = 1, apart = 1;
  for (const std::int64_t extent : kernel) {
    area *= std::uint64_t(extent);
    reach *= divide_up(std::uint64_t(extent), stride);
    apart *= stride;
  }
  if (job.groups > 1 || area == 0 || product.columns % area != 0) return;
  product.kernel_area = reach;
  product.depth *= reach;
  const std::uint64_t channels = product.columns / area, grain = context_.target.hmx_alignment;
  product.columns = channels * apart <= grain ? grain : apart * round_up(channels, grain);
}

// What an HTP keeps of the weights: blocks of 32 channels by 32 columns, for each place of the
// kernel; of one channel or few, so many less as lie side by side. As many as the tensor has on
// other targets.
std::uint64_t MatrixLowering::packed_weights(const Node& node, const ProductJob& job) const {
  const MatrixProduct product = matrix_product(context_.graph, node);
  const Target& target = context_.target;
  const bool depthwise =
      job.is_convolution() && product.batch > 1 && product.depth == product.kernel_area;
  if ((target.dma_unit_bytes <= 1 && !depthwise) || !product.constant_weights)
    return job.weight_bytes;
  const DataType type = context_.type_of(job.plan->weights);
  const std::uint64_t grain = target.hmx_alignment, area = product.kernel_area;
  const std::uint64_t channels = divide_up(product.depth, area);
  const std::uint64_t columns = round_up(product.columns, grain);
  const auto whole = [&](std::uint64_t elements) {
    return round_up(device_bytes(elements, type), target.dma_unit_bytes);
  };
  if (node.op == "ConvTranspose" && job.groups == 1)
    return whole(round_up(divide_up(job.product.depth, job.product.kernel_area), std::uint64_t{8}) *
                 job.product.kernel_area * round_up(job.product.columns, grain));
  if (!job.is_convolution() || node.op == "ConvTranspose")
    return whole(round_up(channels, grain) * area * columns) * product.batch;
  const auto kernel = node.ints_attribute("kernel_shape");
  const std::uint64_t rows = kernel.empty() ? 1 : std::uint64_t(kernel.front());
  const std::uint64_t stride = stride_of(node);
  const bool integer = job.plan->integer;
  if (product.batch > 1 && channels == 1) {
    const std::uint64_t all = round_up(product.columns * product.batch, grain);
    const bool whole_blocks =
        kernel.size() == 1 ? area > 3 || is_dilated(node) : stride > 1 && !integer;
    const std::uint64_t deep = whole_blocks ? grain : integer ? 4 : 2;
    return whole(area * deep * all);
  }
  if (product.batch > 1)
    return whole(round_up(job.product.depth, grain) * job.product.columns) * job.groups;
  if (kernel_is_stride(node)) return whole(round_up(product.depth, grain) * columns);
  if (integer && channels == 1) return whole(round_up(area, grain) * columns);
  if (channels <= few_channels && (integer || stride < 2))
    return whole(rows * round_up(area / rows * few_channels, grain) * columns);
  constexpr std::uint64_t deep = 8;  // of windows without strides, and of those of integers
  const bool narrow = area > 1 && channels < grain && (integer || stride < 2);
  return whole(round_up(channels, narrow ? deep : grain) * area * columns);
}

// Few channels with strides: whole channels of places that lie side by side are one of the
// product's, instead of one of them and padding.
void MatrixLowering::gather_places(std::uint64_t stride, ProductJob& job) const {
  MatrixProduct& product = job.product;
  const std::uint64_t grain = context_.target.hmx_alignment;
  const std::uint64_t channels = divide_up(product.depth, product.kernel_area);
  const auto kernel = job.node->ints_attribute("kernel_shape");
  const bool tiles = context_.target.hmx_tile_rows > 0;
  const bool packs = (job.plan->integer || !tiles) && job.groups == 1;
  if (!tiles && kernel_is_stride(*job.node)) {  // patches side by side
    product.kernel_area = 1;
    return;
  }
  if (tiles && packs && channels == 1 && product.kernel_area > 1) {  // every window a row (im2col)
    product.depth = round_up(product.kernel_area, grain);
    product.kernel_area = 1;
    return;
  }
  if (packs && stride < 2 && channels <= few_channels && !kernel.empty() && kernel.front() > 1) {
    const auto rows = std::uint64_t(kernel.front());  // those of a window side by side
    product.depth = rows * round_up(product.kernel_area / rows * few_channels, grain);
    product.kernel_area = rows;
    return;
  }
  if (stride < 2 || !job.plan->integer || channels * stride * stride > grain ||
      product.kernel_area <= 9)
    return;
  product.kernel_area = divide_up(product.kernel_area, stride * stride) + 3;
  product.depth = grain * product.kernel_area;
}

// Groups of few channels as one product, deep as a block of channels.
void MatrixLowering::multiply_blocks(ProductJob& job) const {
  job.product.depth = context_.target.hmx_alignment * job.product.kernel_area;
  job.product.columns *= job.groups;
  job.product.batch = job.groups = 1;
}

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
  if (job.on_hmx && !job.is_convolution()) {
    job.weight_bytes = packed_weights(node, job);
    if (context_.single_rows[std::uint32_t(node.outputs[0])]) pad_single_row(job);
  }
  if (!job.is_convolution() || !job.on_hmx) return job;
  if (context_.target.hmx_tile_rows > 0) {
    shape_for_tiles(node, job);
    job.weight_bytes = packed_weights(node, job);
  } else if (node.op != "ConvTranspose" && job.groups == 1) {
    gather_places(stride_of(node), job);
  } else if (node.op != "ConvTranspose" && !plan.integer && is_depthwise(job)) {
    multiply_blocks(job);
    job.weight_bytes = packed_weights(node, job);
  }
  return job;
}

void MatrixLowering::lower(const Node& node, const NodePlan& plan) {
  ProductJob job = describe(node, plan);
  const MatrixProduct& product = job.product;
  if (product.rows == 0 || product.columns == 0 || product.depth == 0 || job.groups == 0) {
    return lower_empty(job);
  }
  if (is_depthwise(job)) return lower_depthwise(job);
  const std::uint64_t macs =
      product_work(context_, job, product.rows, product.columns, job.groups).macs;
  (job.on_hmx ? metrics_.hmx_macs : metrics_.non_hmx_macs) += macs;
  const bool constant = product.constant_weights && (job.is_convolution() || job.groups == 1);
  constant ? lower_constant_product(context_, writer_, place_, chains_, tasks_, job)
           : lower_batch_product(context_, writer_, place_, tasks_, job);
}

// Nothing to multiply: the result is only written.
void MatrixLowering::lower_empty(const ProductJob& job) {
  Node empty = *job.node;
  empty.outputs = {job.plan->result};
  empty.inputs = {job.plan->activation};
  vector_.lower(empty, OpClass::elementwise, kernel_named(context_, empty, "aicconvolutiond32"));
}

// One input channel per group: on the HMX 31 of 32 depths would be padding, so HVX does it where
// that is as fast.
void MatrixLowering::lower_depthwise(const ProductJob& job) {
  const NodePlan& plan = *job.plan;
  const std::uint64_t macs = multiply_accumulates(context_.graph, *job.node);
  metrics_.non_hmx_macs += macs;
  const double macs_per_byte =
      double(macs) / double(std::max<std::uint64_t>(context_.bytes_of(plan.result), 1));
  Node fused = *job.node;
  fused.outputs = {plan.result};
  fused.inputs = {plan.activation, plan.weights};
  VectorKernel kernel = kernel_named(context_, fused, depthwise_kernel(context_, *job.node));
  const bool by_macs = !context_.target.kernels.contains(kernel.name);
  if (by_macs)
    kernel.work = [macs_per_byte, &target = context_.target,
                   type = context_.type_of(plan.activation)](std::uint64_t bytes) {
      return VectorWork{
          hvx_product_cycles(target, std::uint64_t(macs_per_byte * double(bytes)), type)};
    };
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
    kernel.work = [=](std::uint64_t bytes) {
      return VectorWork{std::uint64_t(overhead + per_byte * double(bytes) / rate)};
    };
  } else {
    metrics_.non_hmx_macs += plain;
    const DataType type = context_.type_of(node.outputs[0]);
    kernel.work = [=, &target = context_.target](std::uint64_t bytes) {
      return VectorWork{hvx_product_cycles(target, std::uint64_t(per_byte * double(bytes)), type)};
    };
  }
  vector_.lower(node, OpClass::matmul, kernel);
}

}  // namespace npuscope::npu::nsp
