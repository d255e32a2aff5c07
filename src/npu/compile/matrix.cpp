// Matrix products and convolutions: on the HMX, on HVX in float32.
//
// With constant weights the cores share the work by columns (each core streams its own columns'
// weights from DDR; all need the whole activation) or by rows (each core has rows of the
// activation; every weight is read from DDR once and multicast). Whichever takes less time is
// chosen. Without (attention) the batch is shared, head by head.
#include <algorithm>
#include <cmath>

#include "npu/compile/lowering.hpp"

namespace npuscope::npu {
namespace {

constexpr std::uint64_t weight_chunk_bytes = 1 << 20;  // streamed at a time: long DDR bursts, yet
                                                       // several fit beside the activations

std::uint64_t largest(const std::vector<std::uint64_t>& values) {
  return *std::max_element(values.begin(), values.end());
}

std::uint64_t part(std::uint64_t all, std::uint64_t index, std::uint64_t parts) {
  return all * (index + 1) / parts - all * index / parts;
}

// All of `all` in `parts` portions of whole `grain`s.
std::uint64_t grain_part(std::uint64_t all, std::uint64_t index, std::uint64_t parts,
                         std::uint64_t grain) {
  const std::uint64_t grains = divide_up(all, grain);
  const std::uint64_t begin = std::min(all, grains * index / parts * grain);
  const std::uint64_t end = std::min(all, grains * (index + 1) / parts * grain);
  return end - begin;
}

}  // namespace

Lowering::MatrixJob Lowering::describe(const Node& node, const NodePlan& plan) const {
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

std::uint64_t Lowering::product_cycles(const MatrixJob& job, std::uint64_t rows,
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
std::int64_t Lowering::column_unit(TensorId result) const {
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

void Lowering::choose_product_partition(MatrixJob& job) const {
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
  const double gather = double(bytes_of(job.plan->activation)) / link;
  const double column_time = std::max(column_work, loading) + gather;
  if (rows.axis < 0 || shape[std::size_t(rows.axis)] <= 1) {
    job.partition = columns;
    return;
  }
  const std::int64_t extent = shape[std::size_t(rows.axis)];
  const std::uint64_t most = shares(extent, 1, cores_)[0];
  const std::uint64_t row_count = divide_up(job.product.rows * most, std::uint64_t(extent));
  const double row_work =
      double(product_cycles(job, row_count, job.product.columns, job.groups, nullptr)) / clock;
  const double row_time = std::max(row_work, loading) + double(job.weight_bytes) / link;
  job.by_columns = column_time <= row_time;
  job.partition = job.by_columns ? columns : rows;
}

void Lowering::lower_matrix(const Node& node, const NodePlan& plan) {
  MatrixJob job = describe(node, plan);
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
void Lowering::lower_depthwise(const Node& node, const NodePlan& plan) {
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

// A chunk of the weights in VTCM. By columns each core loads its own; by rows each loads a part and
// sends it to all, so that DDR is read once.
BufferId Lowering::load_weights(const MatrixJob& job, std::uint64_t chunk, std::uint64_t chunks) {
  const TensorId id = job.plan->weights;
  const StringId name = name_of_tile(chunk, chunks);
  CoreBytes own(cores_, job.weight_bytes);  // all of a core's weights
  if (job.by_columns && job.partition.axis >= 0) {
    own = slice_bytes({job.partition.shape, job.partition.axis, job.partition.unit},
                      job.weight_bytes, cores_);
  }
  CoreBytes here(cores_);
  for (std::uint32_t core = 0; core < cores_; ++core) here[core] = part(own[core], chunk, chunks);
  const BufferId buffer = allocate(here, Lifetime::tile);
  const bool shared = !job.by_columns && cores_ > 1;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const std::uint64_t bytes = shared ? part(here[core], core, cores_) : here[core];
    if (bytes == 0) continue;
    TaskSpec copy = dma_task("aiccopytovtcm", name, type_of(id));
    copy.core = core;
    copy.ddr_read = copy.output_bytes = bytes;
    copy.reads_constant = true;
    TaskNeeds needs;
    tasks_.need_to_write(buffer, core, needs);
    const TaskIndex loaded = add(copy, std::move(needs));
    if (!shared) {
      tasks_.writes(loaded, buffer, core);
      continue;
    }
    TaskSpec send = dma_task("aicmulticastvtcm", name, type_of(id));
    send.core = core;
    send.multicast = send.output_bytes = bytes;
    TaskNeeds send_needs{{loaded, true}};
    for (std::uint32_t to = 0; to < cores_; ++to) tasks_.need_to_write(buffer, to, send_needs);
    const TaskIndex sent = add(send, std::move(send_needs));
    for (std::uint32_t to = 0; to < cores_; ++to) tasks_.writes(sent, buffer, to);
  }
  return buffer;
}

void Lowering::load_bias(const MatrixJob& job, std::vector<Operand>& operands) {
  for (TensorId id : job.plan->fused_constants) {
    if (!tensor(id).constant) continue;
    Partition needed{tensor(id).shape, replicated, 1};
    const bool along_columns =
        job.by_columns && job.partition.axis >= 0 && tensor(id).shape.size() == 1 &&
        tensor(id).shape[0] == job.partition.shape[std::size_t(job.partition.axis)];
    if (along_columns) needed = {tensor(id).shape, 0, job.partition.unit};
    operands.push_back(prepare_constant(id, needed, Layout::flat));
  }
}

Lowering::ProductTile Lowering::product_tile(const MatrixJob& job, const CoreBytes& output_bytes,
                                             std::uint64_t row_tile, std::uint64_t row_tiles,
                                             std::uint64_t chunk, std::uint64_t chunks) const {
  ProductTile tile;
  const std::uint64_t all_columns = job.product.columns * std::max<std::uint64_t>(job.groups, 1);
  const std::uint64_t all_bytes = std::max<std::uint64_t>(bytes_of(job.plan->result), 1);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const bool split = job.partition.axis >= 0;
    std::uint64_t rows = job.product.rows;
    std::uint64_t columns = all_columns;
    if (split) {
      const auto mine = shares(job.partition.shape[std::size_t(job.partition.axis)],
                               job.partition.unit, cores_)[core];
      const auto extent = std::uint64_t(job.partition.shape[std::size_t(job.partition.axis)]);
      (job.by_columns ? columns : rows) =
          divide_up((job.by_columns ? all_columns : job.product.rows) * mine, extent);
    }
    rows = part(rows, row_tile, row_tiles);
    std::uint64_t groups = 1;
    if (job.groups > 1) {
      groups = part(divide_up(columns, job.product.columns), chunk, chunks);
      columns = groups > 0 ? job.product.columns : 0;
    } else {
      columns = grain_part(columns, chunk, chunks, target_.hmx_alignment);
    }
    tile.rows.push_back(rows);
    tile.columns.push_back(columns);
    tile.groups.push_back(groups);
    const std::uint64_t elements = rows * columns * groups;
    tile.output_bytes.push_back(std::min(
        output_bytes[core],
        std::uint64_t(double(all_bytes) * double(elements) /
                      double(std::max<std::uint64_t>(job.product.rows * all_columns, 1)))));
  }
  return tile;
}

void Lowering::emit_product(const MatrixJob& job, const ProductTile& tile) {
  const DataType type = type_of(job.plan->activation);
  const DataType weight_type = type_of(job.plan->weights);
  std::string types(name_of(type));
  if (weight_type != type) types += fmt::format(", {}", name_of(weight_type));
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (tile.rows[core] * tile.columns[core] * tile.groups[core] == 0) continue;
    TaskSpec spec = vector_task("aicconvolutiond32", tile.name, type);
    if (job.on_hmx) {
      spec.group = qaic::ThreadGroup::hmx;
      spec.thread_imbalance = 0;
    }
    spec.types = strings_.intern(types);
    spec.core = core;
    spec.cycles =
        product_cycles(job, tile.rows[core], tile.columns[core], tile.groups[core], &spec.macs);
    spec.output_bytes = tile.output_bytes[core];
    TaskNeeds needs;
    for (BufferId read : tile.reads) {
      if (read != BufferId::none) tasks_.need_to_read(read, core, needs);
    }
    tasks_.need_to_write(tile.writes, core, needs);
    const TaskIndex task = add(spec, std::move(needs));
    for (BufferId read : tile.reads) {
      if (read != BufferId::none) tasks_.reads(task, read, core);
    }
    tasks_.writes(task, tile.writes, core);
  }
}

void Lowering::lower_constant_product(MatrixJob& job) {
  choose_product_partition(job);
  const NodePlan& plan = *job.plan;
  const std::uint64_t grain = target_.hmx_alignment;
  const std::uint64_t channels = divide_up(job.product.depth, job.product.kernel_area);
  count_constant(plan.weights, job.weight_bytes,
                 device_bytes(round_up(channels, grain) * job.product.kernel_area *
                                  round_up(job.product.columns, grain) * job.groups,
                              type_of(plan.weights)));
  const Layout layout = job.on_hmx ? Layout::d32 : Layout::flat;
  Partition needed{tensor(plan.activation).shape, replicated, 1};
  if (!job.by_columns) needed.axis = job.partition.axis;
  if (needed.axis >= int(needed.shape.size())) needed.axis = replicated;
  std::vector<Operand> operands{prepare(plan.activation, needed, layout)};
  const BufferId halo = exchange_halo(*job.node, operands[0], job.partition);
  load_bias(job, operands);

  NodeResult result;
  result.storage = make_storage(plan.result, job.partition, layout);
  pinned_.insert(result.storage);
  result.core_bytes = slice_bytes(job.partition, storages_[result.storage].bytes, cores_);
  place_result(result, fits(result.core_bytes));

  std::uint64_t row_tiles = 1;
  if (operands[0].streamed) row_tiles = tiles_for(largest(operands[0].core_bytes));
  if (result.streamed) row_tiles = std::max(row_tiles, tiles_for(largest(result.core_bytes)));
  const std::uint64_t own_weights =
      job.by_columns && job.partition.axis >= 0
          ? largest(slice_bytes(job.partition, job.weight_bytes, cores_))
          : job.weight_bytes;
  const std::uint64_t most_chunks = std::max<std::uint64_t>(
      job.groups > 1 ? job.groups : divide_up(job.product.columns, grain), 1);
  // With a streamed activation, weights that fit are held, so that it is streamed only once.
  const bool hold = row_tiles > 1 && own_weights <= resident_limit_;
  const std::uint64_t chunks =
      hold ? 1
           : std::min(std::max<std::uint64_t>(divide_up(own_weights, weight_chunk_bytes), 1),
                      most_chunks);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    const BufferId weights = load_weights(job, chunk, chunks);
    for (std::uint64_t row_tile = 0; row_tile < row_tiles; ++row_tile) {
      ProductTile tile = product_tile(job, result.core_bytes, row_tile, row_tiles, chunk, chunks);
      const std::uint64_t number = chunk * row_tiles + row_tile;
      tile.name = name_of_tile(number, chunks * row_tiles);
      tile.reads = {weights, halo};
      BufferId activation_tile = BufferId::none;
      for (const Operand& operand : operands) {
        tile.reads.push_back(operand.streamed && &operand == &operands[0]
                                 ? activation_tile = load_tile(operand, row_tile, row_tiles)
                                 : operand.buffer);
      }
      tile.writes = result.streamed ? allocate(tile.output_bytes, Lifetime::tile) : result.buffer;
      emit_product(job, tile);
      release(activation_tile);
      if (result.streamed) {
        store_tile(result.storage, tile.writes, tile.output_bytes);
        release(tile.writes);
      }
    }
    release(weights);
  }
  for (Operand& operand : operands) finish(operand);
  release(halo);
  keep_result(result);
}

// Batches (heads) that the operands share are dealt out to the cores; else rows.
Partition Lowering::choose_batch_partition(const MatrixJob& job) const {
  const TensorId result = job.plan->result;
  const Shape& shape = tensor(result).shape;
  Partition partition{shape, replicated, 1};
  if (cores_ == 1 || shape.size() < 2) return partition;
  const int rank = int(shape.size());
  for (TensorId id : {job.plan->activation, job.plan->weights}) {
    if (storage_of(id) == no_storage) continue;
    const Storage& storage = storages_[storage_of(id)];
    if (storage.buffer == BufferId::none) continue;
    const Partition held = partition_in_view(storage.partition, tensor(id).shape);
    const int axis = held.axis + rank - int(tensor(id).shape.size());
    if (held.axis >= 0 && axis >= 0 && axis < rank - 2 && shape[std::size_t(axis)] > 1 &&
        shape[std::size_t(axis)] == held.shape[std::size_t(held.axis)]) {
      return {shape, axis, held.unit};
    }
  }
  for (int axis = 0; axis < rank - 1; ++axis) {
    const bool larger =
        partition.axis < 0 || shape[std::size_t(axis)] > shape[std::size_t(partition.axis)];
    const bool enough =
        partition.axis >= 0 && shape[std::size_t(partition.axis)] >= std::int64_t(cores_);
    if (shape[std::size_t(axis)] > 1 && larger && !enough) partition.axis = axis;
  }
  return partition;
}

void Lowering::lower_dynamic_product(MatrixJob& job) {
  const NodePlan& plan = *job.plan;
  job.partition = choose_batch_partition(job);
  const Shape& shape = job.partition.shape;
  const int rank = int(shape.size());
  const auto wanted = [&](TensorId id, bool weights) {
    Partition needed{tensor(id).shape, replicated, 1};
    const int axis = job.partition.axis - (rank - int(needed.shape.size()));
    const bool batch_axis = axis >= 0 && axis < int(needed.shape.size()) - (weights ? 2 : 1);
    if (job.partition.axis >= 0 && batch_axis &&
        needed.shape[std::size_t(axis)] == shape[std::size_t(job.partition.axis)]) {
      needed.axis = axis;
      needed.unit = job.partition.unit;
    }
    return needed;
  };
  const Layout left = job.on_hmx ? Layout::d32 : Layout::flat;
  const Layout right = job.on_hmx ? Layout::weights_d32 : Layout::flat;
  std::vector<Operand> operands{prepare(plan.activation, wanted(plan.activation, false), left)};
  if (plan.weights == plan.activation) {
    operands.push_back(operands[0]);
  } else {
    operands.push_back(prepare(plan.weights, wanted(plan.weights, true), right));
  }
  load_bias(job, operands);
  NodeResult result;
  result.storage = make_storage(plan.result, job.partition, left);
  pinned_.insert(result.storage);
  result.core_bytes = slice_bytes(job.partition, storages_[result.storage].bytes, cores_);
  place_result(result, fits(result.core_bytes));

  // One task per batch (head) of the busiest core, more when something is streamed.
  const bool by_batch = job.partition.axis < rank - 2 || job.groups > 1;
  const std::uint64_t per_core =
      job.partition.axis >= 0 && job.partition.axis < rank - 2
          ? divide_up(job.groups, std::min<std::uint64_t>(job.groups, cores_))
          : job.groups;
  std::uint64_t tiles = by_batch ? std::clamp<std::uint64_t>(per_core, 1, 64) : 1;
  for (const Operand& operand : operands) {
    if (operand.streamed) tiles = std::max(tiles, tiles_for(largest(operand.core_bytes)));
  }
  if (result.streamed) tiles = std::max(tiles, tiles_for(largest(result.core_bytes)));
  for (std::uint64_t index = 0; index < tiles; ++index) {
    ProductTile tile;
    tile.name = name_of_tile(index, tiles);
    std::vector<BufferId> own;
    for (const Operand& operand : operands) {
      tile.reads.push_back(operand.streamed ? own.emplace_back(load_tile(operand, index, tiles))
                                            : operand.buffer);
    }
    for (std::uint32_t core = 0; core < cores_; ++core) {
      const std::uint64_t bytes = std::max<std::uint64_t>(bytes_of(plan.result), 1);
      const double share = double(result.core_bytes[core]) / double(bytes);
      const std::uint64_t mine =
          std::uint64_t(std::ceil(double(job.product.rows * job.groups) * share - 1e-9));
      // Whole batches while there are enough of them, else rows of one.
      const std::uint64_t rows = part(mine, index, tiles);
      tile.groups.push_back(rows >= job.product.rows ? divide_up(rows, job.product.rows) : 1);
      tile.rows.push_back(rows >= job.product.rows ? job.product.rows : rows);
      tile.columns.push_back(job.product.columns);
      tile.output_bytes.push_back(part(result.core_bytes[core], index, tiles));
    }
    tile.writes = result.streamed ? allocate(tile.output_bytes, Lifetime::tile) : result.buffer;
    emit_product(job, tile);
    for (BufferId buffer : own) release(buffer);
    if (result.streamed) {
      store_tile(result.storage, tile.writes, tile.output_bytes);
      release(tile.writes);
    }
  }
  for (Operand& operand : operands) finish(operand);
  keep_result(result);
}

}  // namespace npuscope::npu
