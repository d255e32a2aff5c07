#include "npu/targets/nsp/compile/lower/matrix_lowering.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

// Batches (heads) that the operands share are dealt out to the cores; else rows.
Partition BatchProducts::choose_partition(const ProductJob& job) const {
  const TensorId result = job.plan->result;
  const Shape& shape = context_.tensor(result).shape;
  Partition partition{shape, replicated, 1};
  if (context_.cores == 1 || shape.size() < 2) return partition;
  const int rank = int(shape.size());
  for (TensorId id : {job.plan->activation, job.plan->weights}) {
    if (place_.storages.of(id) == no_storage) continue;
    const Storage& storage = place_.storages[place_.storages.of(id)];
    if (storage.buffer == BufferId::none) continue;
    const Partition held = partition_in_view(storage.partition, context_.tensor(id).shape);
    const int axis = held.axis + rank - int(context_.tensor(id).shape.size());
    if (held.axis >= 0 && axis >= 0 && axis < rank - 2 && shape[std::size_t(axis)] > 1 &&
        shape[std::size_t(axis)] == held.shape[std::size_t(held.axis)]) {
      return {shape, axis, held.unit};
    }
  }
  for (int axis = 0; axis < rank - 1; ++axis) {
    const bool larger =
        partition.axis < 0 || shape[std::size_t(axis)] > shape[std::size_t(partition.axis)];
    const bool enough =
        partition.axis >= 0 && shape[std::size_t(partition.axis)] >= std::int64_t(context_.cores);
    if (shape[std::size_t(axis)] > 1 && larger && !enough) partition.axis = axis;
  }
  return partition;
}

Partition BatchProducts::partition_needed(const ProductJob& job, TensorId id, bool weights) const {
  Partition needed{context_.tensor(id).shape, replicated, 1};
  if (job.partition.axis < 0) return needed;
  const int rank = int(job.partition.shape.size());
  const int own_rank = int(needed.shape.size());
  const int axis = job.partition.axis - (rank - own_rank);
  const bool batch_axis = axis >= 0 && axis < own_rank - (weights ? 2 : 1);
  if (batch_axis &&
      needed.shape[std::size_t(axis)] == job.partition.shape[std::size_t(job.partition.axis)]) {
    needed.axis = axis;
    needed.unit = job.partition.unit;
  }
  return needed;
}

// One task per batch (head) of the busiest core, more when something is streamed.
std::uint64_t BatchProducts::usual_tiles(const ProductJob& job, std::span<const Operand> operands,
                                         const NodeResult& result) const {
  const int rank = int(job.partition.shape.size());
  const bool shared_batches = job.partition.axis >= 0 && job.partition.axis < rank - 2;
  const std::uint64_t per_core =
      shared_batches ? divide_up(job.groups, std::min<std::uint64_t>(job.groups, context_.cores))
                     : job.groups;
  return std::max(std::clamp<std::uint64_t>(per_core, 1, 64),
                  place_.tiles.usual_tiles(operands, std::span(&result, 1)));
}

std::uint64_t BatchProducts::find_tiles(const ProductJob& job, std::vector<Operand>& operands,
                                        NodeResult& result) {
  const std::uint64_t finer = place_.tiles.find_cuts(
      [&](std::uint64_t times) {
        const std::uint64_t cuts = usual_tiles(job, operands, result) * times;
        auto sizes = place_.tiles.streamed_sizes(operands, cuts);
        if (result.streamed) {
          const ProductTile last = tile_of(job, result.core_bytes, cuts - 1, cuts, true);
          sizes.insert(sizes.end(), place_.tiles.tiles_at_once(result), largest(last.output_bytes));
        }
        return sizes;
      },
      operands, std::span(&result, 1));
  const std::uint64_t tiles = usual_tiles(job, operands, result) * finer;
  writer_.check_tiles(tiles);
  return tiles;
}

// Whole batches while there are enough of them, else rows of one, else, where streaming needs more
// tiles than there are rows, columns of one row.
ProductTile BatchProducts::tile_of(const ProductJob& job, const CoreBytes& output_bytes,
                                   std::uint64_t index, std::uint64_t tiles, bool streamed) const {
  ProductTile tile;
  const DataType type = context_.type_of(job.plan->result);
  const std::uint64_t bits = std::max(bits_of(type), 1u);  // strings have none
  const std::uint64_t columns = job.product.columns;
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const std::uint64_t mine = divide_up(output_bytes[core] * 8 / bits, columns);
    const bool cuts_rows = streamed && mine < tiles;
    const std::uint64_t grain = cuts_rows ? 1 : columns;  // elements that stay together
    const std::uint64_t grains = mine * columns / grain;
    const std::uint64_t begin = grains * index / tiles * grain;
    const std::uint64_t end = grains * (index + 1) / tiles * grain;
    const std::uint64_t rows = cuts_rows ? 1 : (end - begin) / columns;
    if (!streamed) tile.row_range.push_back({begin / columns, end / columns, mine});
    const bool whole = rows >= job.product.rows;
    tile.groups.push_back(whole ? divide_up(rows, job.product.rows) : 1);
    tile.rows.push_back(whole ? job.product.rows : rows);
    tile.columns.push_back(cuts_rows ? end - begin : columns);
    tile.output_bytes.push_back(device_bytes(end, type) - device_bytes(begin, type));
  }
  tile.name = writer_.name_of_tile(index, tiles);
  return tile;
}

std::vector<std::vector<BufferPart>> BatchProducts::parts_of_rows(
    const Operand& activation, const std::vector<RowRange>& rows) const {
  if (rows.empty() || activation.storage == no_storage || activation.streamed) return {};
  const Storage& storage = place_.storages[activation.storage];
  const bool in_order = storage.pieces != nullptr && storage.buffer == activation.buffer &&
                        storage.pieces->row_elements %
                                std::uint64_t(context_.tensor(activation.tensor).shape.back()) ==
                            0;
  if (!in_order) return {};
  std::vector<std::vector<BufferPart>> parts(context_.cores);
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const RowRange& range = rows[core];
    const std::uint64_t bytes = activation.core_bytes[core];
    if (range.all == 0 || bytes % range.all != 0) return {};
    parts[core] = {part_of_bytes(*storage.pieces, core, bytes / range.all * range.first,
                                 bytes / range.all * range.last)};
  }
  return parts;
}

void BatchProducts::lower(ProductJob& job) {
  const NodePlan& plan = *job.plan;
  job.partition = choose_partition(job);
  const Layout left = job.on_hmx ? Layout::d32 : Layout::flat;
  const Layout right = job.on_hmx ? Layout::weights_d32 : Layout::flat;
  std::vector<Operand> operands;
  operands.push_back(place_.operands.prepare(plan.activation,
                                             partition_needed(job, plan.activation, false), left));
  operands.push_back(
      place_.operands.prepare(plan.weights, partition_needed(job, plan.weights, true), right));
  tasks_.load_bias(job, operands);
  NodeResult result = tasks_.make_result(job, left);
  const std::uint64_t tiles = find_tiles(job, operands, result);
  const bool streamed = result.streamed || operands[0].streamed || operands[1].streamed;
  PieceWriter made(result.core_bytes, tiles, 1, streamed ? 1 : job.product.columns);
  for (std::uint64_t index = 0; index < tiles; ++index) {
    ProductTile tile = tile_of(job, result.core_bytes, index, tiles, streamed);
    tile.written = made.piece(index, tile.output_bytes);
    tile.operands = operands;
    tile.depth = job.product.depth;
    tile.row = index;
    tile.row_tiles = tiles;
    tile.read_parts = parts_of_rows(operands[0], tile.row_range);
    tile.read_bytes = place_.tiles.bytes_of_resident(operands, tiles);
    const auto own = place_.transfers.load_tiles(operands, index, tiles, tile.reads);
    tile.read_bytes += writer_.bytes_in(own);
    tasks_.emit(job, tile, result);
    for (BufferId buffer : own) place_.residency.release(buffer);
  }
  if (context_.cuts_resident && !result.streamed)
    place_.storages[result.storage].pieces = made.pieces();
  for (Operand& operand : operands) place_.operands.finish(operand);
  place_.operands.keep_result(result);
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
