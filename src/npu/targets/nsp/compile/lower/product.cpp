#include "npu/targets/nsp/compile/lower/product.hpp"

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

namespace {

// Of integers, 3x3 without strides from two blocks of channels to two: so many cycles less a task,
// and half a block of columns is not multiplied.
std::uint64_t less_of_two_blocks(const CompileContext& context, const ProductJob& job,
                                 std::uint64_t columns, std::uint64_t cycles) {
  const MatrixProduct& product = job.product;
  const double less = context.target.hmx_two_blocks_less_int8;
  const std::uint64_t grain = context.target.hmx_alignment;
  const bool windows = job.is_convolution() && job.in_place && product.kernel_area == 9;
  if (less <= 0 || !job.plan->integer || !windows || job.slowdown > 1 ||
      divide_up(product.depth / product.kernel_area, grain) != 2 || divide_up(columns, grain) != 2)
    return cycles;
  const std::uint64_t rest = columns % grain;
  const double half =
      rest > 0 && rest <= grain / 2 ? double(grain) / 2 / double(round_up(columns, grain)) : 0;
  const double overhead = context.target.hmx_overhead_cycles;
  const double left = (double(cycles) - overhead) * (1 - half) + overhead - less;
  return std::uint64_t(std::llround(std::max(left, overhead / 2)));
}

}  // namespace

ProductWork product_work(const CompileContext& context, const ProductJob& job, std::uint64_t rows,
                         std::uint64_t columns, std::uint64_t groups) {
  if (job.on_hmx) {
    const auto padded = std::uint64_t(std::llround(double(rows) * job.padding));
    const HmxWork one =
        hmx_work(context.target, job.product, padded, columns, job.plan->integer, job.in_place);
    const auto overhead = std::uint64_t(std::llround(context.target.hmx_overhead_cycles));
    const auto cycles = std::uint64_t(std::llround(double(one.cycles - overhead) * job.slowdown));
    const std::uint64_t all = cycles * groups + overhead;
    return {groups > 1 ? all : less_of_two_blocks(context, job, columns, all), one.macs * groups};
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
  // A vector times a matrix has no columns, and packed weights may have others.
  const auto columns_of_result = std::uint64_t(shape[std::size_t(column_axis)]);
  if (context.tensor(job.plan->weights).elements() %
          std::max(columns_of_result, std::uint64_t{1}) !=
      0) {
    job.by_columns = rows.axis < 0;
    job.partition = rows;
    return;
  }
  const double clock = context.target.core_hz;
  const double ddr = context.target.ddr_bytes_per_s * context.target.ddr_efficiency;
  const double link = context.target.multicast_bytes_per_s_per_core;
  const double loading = double(context.ddr_bytes(job.plan->weights, job.weight_bytes)) / ddr;
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
  // An activation that no core can hold whole is in DDR, and read again for each part of the
  // weights that one holds.
  const std::uint64_t activation_bytes = context.bytes_of(job.plan->activation);
  const std::uint64_t own_weights = job.weight_bytes / context.cores;
  const double streaming = activation_bytes <= context.resident_limit
                               ? 0
                               : double(activation_bytes) / ddr *
                                     double(1 + divide_up(own_weights, context.resident_limit));
  const double column_time = std::max(column_work, loading) + gather + streaming;
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

namespace {

using Use = TaskOperand::Use;
constexpr auto vtcm = TaskOperand::Memory::vtcm;

bool is_transposed(const Node& node, const char* attribute) {
  return node.int_attribute(attribute, 0) != 0;
}

// Without dimension `axis`.
Shape without(Shape shape, std::size_t axis) {
  shape.erase(shape.begin() + std::ptrdiff_t(axis));
  return shape;
}

Shape with(Shape shape, std::size_t axis, std::uint64_t extent) {
  shape.insert(shape.begin() + std::ptrdiff_t(axis), std::int64_t(extent));
  return shape;
}

// Those of `shape` that a product for `made` reads: batches of the same dimensions from the right,
// of fewer where they are shared.
Shape batches_of(const Shape& shape, const Shape& made) {
  Shape batches(shape.begin(), shape.end() - 2);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const std::size_t from_right = shape.size() - i;
    if (from_right > made.size()) continue;
    batches[i] = std::min(batches[i], made[made.size() - from_right]);
  }
  return batches;
}

// The weights of a product of batches are its second operand, others come chunk by chunk.
bool goes_by_batches(const ProductJob& job, const ProductTile& tile) {
  return tile.operands.size() > 1 && tile.operands[1].tensor == job.plan->weights;
}

// What a task of a matrix product reads and writes: rows x depth times depth x columns, in the
// dimensions of the tensors that they are parts of.
class ProductOperands {
 public:
  ProductOperands(const CompileContext& context, const TaskWriter& writer, const Operands& operands)
      : context_(context), writer_(writer), operands_(operands) {}

  // Of one core's task of a tile, in its own shapes.
  std::vector<TaskOperand> of(const ProductJob& job, const ProductTile& tile,
                              std::uint32_t core) const {
    const Shape made = result(job, tile, core);
    const std::size_t column_axis = job.is_convolution() ? 1 : made.size() - 1;
    const std::int64_t columns = column_axis < made.size() ? made[column_axis] : 1;
    const auto part = [&](Use use, TensorId id, Shape shape) {
      return TaskOperand{use, vtcm, context_.tensor(id).name, context_.type_of(id),
                         std::move(shape)};
    };
    std::vector<TaskOperand> operands;
    operands.push_back(part(tile.adds_up ? Use::inout : Use::out, job.plan->result, made));
    operands.push_back(part(Use::in, job.plan->activation, activation(job, tile, made, core)));
    operands.push_back(part(Use::in, job.plan->weights,
                            weights(job, made, std::uint64_t(columns), 1, tile.depth)));
    for (const Operand& each : tile.operands.subspan(goes_by_batches(job, tile) ? 2 : 1)) {
      operands.push_back(bias(each, columns, core));
    }
    if (tile.halo != BufferId::none) {
      const TensorId id = job.plan->activation;
      const std::int64_t rows = job.node->ints_attribute("kernel_shape").front() - 1;
      Shape shape = with(without(context_.tensor(id).shape, 2), 2, std::uint64_t(rows));
      operands.push_back(part(
          Use::in, id,
          part_of_shape(shape, writer_.tasks().buffer_bytes(tile.halo), context_.type_of(id))));
    }
    return operands;
  }

  // Whether two cores' tasks of a tile have operands of the same shapes.
  bool alike(const ProductJob& job, const ProductTile& tile, std::uint32_t a,
             std::uint32_t b) const {
    const auto same = [&](const CoreBytes& of_cores) { return of_cores[a] == of_cores[b]; };
    if (!same(tile.rows) || !same(tile.columns) || !same(tile.groups) || !same(tile.output_bytes)) {
      return false;
    }
    const Partition& made = job.partition;
    const std::int64_t extent = made.axis < 0 ? 1 : made.shape[std::size_t(made.axis)];
    const bool same_slice = made.axis < 0 || share(extent, made.unit, a, context_.cores) ==
                                                 share(extent, made.unit, b, context_.cores);
    return same_slice && std::ranges::all_of(tile.operands, [&](const Operand& operand) {
             return same(operand.core_bytes);
           });
  }

  CoreShapes results(const ProductJob& job, const ProductTile& tile) const {
    CoreShapes shapes;
    for (std::uint32_t core = 0; core < context_.cores; ++core) {
      shapes.push_back(result(job, tile, core));
    }
    return shapes;
  }

  // Of a chunk of the weights: of whole columns, where its bytes are those of the tile's columns.
  Shape chunk(const ProductJob& job, const ProductTile& tile, std::uint64_t depth,
              std::uint32_t core, std::uint64_t bytes) const {
    const Shape shape = weights(job, {}, tile.columns[core], tile.groups[core], depth);
    const bool holds_all =
        device_bytes(elements_of(shape), context_.type_of(job.plan->weights)) >= bytes;
    return holds_all ? shape : context_.tensor(job.plan->weights).shape;
  }

 private:
  Shape result(const ProductJob& job, const ProductTile& tile, std::uint32_t core) const {
    const Shape whole = context_.slice_of(job.partition, core);
    const DataType type = context_.type_of(job.plan->result);
    const std::uint64_t columns = tile.columns[core] * tile.groups[core];
    const std::size_t axis = job.is_convolution() ? 1 : whole.size() - 1;
    const bool in_rows = !goes_by_batches(job, tile) && axis < whole.size();
    if (in_rows) {
      const Shape shape = with(part_of_shape(without(whole, axis), tile.rows[core]), axis, columns);
      if (device_bytes(elements_of(shape), type) == tile.output_bytes[core]) return shape;
    }
    return part_of_shape(whole, tile.output_bytes[core], type);
  }

  // A tile of the places, of the channels those of its depth.
  Shape image(const ProductJob& job, const ProductTile& tile, std::uint32_t core) const {
    const Shape whole = context_.slice_of(tile.operands[0].partition, core);
    if (whole.size() < 2) return whole;
    const std::uint64_t channels =
        divide_up(tile.depth, job.product.kernel_area) * tile.groups[core];
    const Shape places = without(whole, 1);
    const std::uint64_t all = elements_of(places);
    const std::uint64_t own = even_part(all, tile.row, tile.row_tiles);
    return with(part_of_shape(places, own), 1, std::min(std::uint64_t(whole[1]), channels));
  }

  Shape activation(const ProductJob& job, const ProductTile& tile, const Shape& made,
                   std::uint32_t core) const {
    if (job.is_convolution()) return image(job, tile, core);
    const Shape whole = context_.slice_of(tile.operands[0].partition, core);
    const auto depth = std::int64_t(tile.depth);
    const std::uint64_t columns = made.empty() ? 1 : std::uint64_t(made.back());
    const auto rows = std::int64_t(elements_of(made) / std::max<std::uint64_t>(columns, 1));
    const bool turned = is_transposed(*job.node, "transA");
    const auto matrix = [&](Shape batches, std::int64_t own_rows) {
      batches.push_back(turned ? depth : own_rows);
      batches.push_back(turned ? own_rows : depth);
      return batches;
    };
    if (whole.size() < 2 || made.size() < 2 || job.node->op == "Gemm") return matrix({}, rows);
    const Shape batches = batches_of(whole, made);
    if (job.groups > 1) return matrix(batches, made[made.size() - 2]);
    // Batches that share the weights are more rows.
    const auto shared = std::int64_t(std::max<std::uint64_t>(elements_of(batches), 1));
    return rows % shared == 0 ? matrix(batches, rows / shared) : matrix({}, rows);
  }

  Shape weights(const ProductJob& job, const Shape& made, std::uint64_t columns,
                std::uint64_t groups, std::uint64_t depth) const {
    const Shape& whole = context_.tensor(job.plan->weights).shape;
    if (whole.size() < 2) return whole;
    const Shape inner(whole.begin() + 1, whole.end());
    if (job.node->op == "ConvTranspose")
      return with(part_of_shape(inner, columns), 0, depth * groups);
    if (job.is_convolution()) return with(part_of_shape(inner, depth), 0, columns * groups);
    if (job.node->op == "MatMulNBits") return with(inner, 0, columns);  // blocks of each column
    Shape shape = batches_of(whole, made);
    if (is_transposed(*job.node, "transB")) std::swap(columns, depth);
    shape.push_back(std::int64_t(depth));
    shape.push_back(std::int64_t(columns));
    return shape;
  }

  TaskOperand bias(const Operand& bias, std::int64_t columns, std::uint32_t core) const {
    if (bias.splat()) return writer_.known_scalar(bias.tensor);
    TaskOperand told = operands_.read_of(bias, core, bias.core_bytes[core]);
    if (!told.shape.empty() && told.shape.back() > columns) told.shape.back() = columns;
    return told;
  }

  const CompileContext& context_;
  const TaskWriter& writer_;
  const Operands& operands_;
};

}  // namespace

Shape ProductTasks::chunk_shape(const ProductJob& job, const ProductTile& tile, std::uint64_t depth,
                                std::uint32_t core, std::uint64_t bytes) const {
  if (!writer_.describes()) return {};
  return ProductOperands(context_, writer_, place_.operands).chunk(job, tile, depth, core, bytes);
}

void ProductTasks::load_bias(const ProductJob& job, std::vector<Operand>& operands) {
  for (TensorId id : job.plan->fused_constants) {
    Partition needed{context_.tensor(id).shape, replicated, 1};
    const bool along_columns =
        job.by_columns && job.partition.axis >= 0 && context_.tensor(id).shape.size() == 1 &&
        context_.tensor(id).shape[0] == job.partition.shape[std::size_t(job.partition.axis)];
    if (along_columns) needed = {context_.tensor(id).shape, 0, job.partition.unit};
    operands.push_back(place_.operands.prepare(id, needed, Layout::flat, Movement::bias));
  }
}

NodeResult ProductTasks::make_result(const ProductJob& job, Layout layout) {
  const TensorId made = job.chain.nodes.empty() ? job.plan->result : job.chain.result;
  NodeResult result = place_.operands.make_result(made, job.partition, layout);
  place_.operands.place_result(result);
  return result;
}

void ProductTasks::emit(const ProductJob& job, const ProductTile& tile, const NodeResult& result) {
  const BufferId made = place_.transfers.place_tile(result, tile.output_bytes);
  const DataType type = context_.type_of(job.plan->activation);
  std::uint32_t described = context_.cores;  // the latest core whose operands were described
  StringId shape{}, operands{};
  const ProductOperands shapes(context_, writer_, place_.operands);
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (tile.rows[core] * tile.columns[core] * tile.groups[core] == 0) continue;
    TaskSpec spec = writer_.vector_task(core, "aicconvolutiond32", tile.name, type);
    if (job.on_hmx) {
      spec.group = qaic::ThreadGroup::hmx;
      spec.thread_imbalance = 0;
      if (job.plan->integer) spec.flags = qaic::task_hmx_int8;
    }
    spec.types = writer_.node_types();
    const ProductWork work =
        product_work(context_, job, tile.rows[core], tile.columns[core], tile.groups[core]);
    spec.cycles = work.cycles;
    spec.macs = job.on_hmx ? work.macs : 0;
    spec.output_bytes = tile.output_bytes[core];
    if (described < context_.cores && shapes.alike(job, tile, described, core)) {
      spec.shape = shape;
      spec.operands = operands;
    } else if (writer_.describes()) {
      writer_.works_on(spec, shapes.of(job, tile, core));
      shape = spec.shape;
      operands = spec.operands;
      described = core;
    }
    spec.vtcm_read = tile.read_bytes;
    TaskWriter::Parts parts;
    if (!tile.read_parts.empty()) parts.reads = tile.read_parts[core];
    if (!result.streamed) parts.writes = tile.written;
    if (tile.is_strip) {
      spec.tile = std::uint32_t(tile.row);
      spec.tiles = std::uint32_t(tile.row_tiles);
    }
    writer_.add_compute(spec, tile.reads, made, parts);
  }
  if (result.streamed) store(job, tile, result, made);
}

void ProductTasks::store(const ProductJob& job, const ProductTile& tile, const NodeResult& result,
                         BufferId made) {
  const std::size_t product = writer_.position();
  const bool goes_on = !job.chain.nodes.empty() && tile.whole_depth;
  const CoreShapes shapes = ProductOperands(context_, writer_, place_.operands).results(job, tile);
  if (goes_on) {
    chains_.emit_tile(job.chain, {tile.index, tile.tiles, made, {}, tile.output_bytes, shapes});
  }
  place_.transfers.store_result_tile(result.storage, made, tile.output_bytes, shapes);
  place_.residency.release(made);
  if (goes_on) writer_.begin_node(product, *job.node);
}

}  // namespace npuscope::npu::nsp
