// The tiles of one matrix product: weights in chunks, rows or batches, and the tasks that multiply
// them.
#include <algorithm>
#include <cmath>

#include "npu/compile/lower/matrix_lowering.hpp"

namespace npuscope::npu {
namespace {

constexpr std::uint64_t weight_chunk_bytes = 1 << 20;  // streamed at a time: long DDR bursts, yet
                                                       // several fit beside the activations

// All of `all` in `parts` portions of whole `grain`s.
std::uint64_t grain_part(std::uint64_t all, std::uint64_t index, std::uint64_t parts,
                         std::uint64_t grain) {
  const std::uint64_t grains = divide_up(all, grain);
  const std::uint64_t begin = std::min(all, grains * index / parts * grain);
  const std::uint64_t end = std::min(all, grains * (index + 1) / parts * grain);
  return end - begin;
}

}  // namespace

// A chunk of the weights in VTCM. By columns each core loads its own; by rows each loads a part and
// sends it to all, so that DDR is read once.
BufferId MatrixLowering::load_weights(const MatrixJob& job, const ProductTiling& tiling,
                                      std::uint64_t load) {
  const TensorId id = job.plan->weights;
  const std::uint64_t chunk = load, chunks = tiling.chunks * tiling.depth_parts;
  const StringId name = name_of_tile(chunk, chunks);
  CoreBytes own(cores_, job.weight_bytes);  // all of a core's weights
  if (job.by_columns && job.partition.axis >= 0) {
    own = slice_bytes({job.partition.shape, job.partition.axis, job.partition.unit},
                      job.weight_bytes, cores_);
  }
  CoreBytes here(cores_);
  for (std::uint32_t core = 0; core < cores_; ++core)
    here[core] = even_bytes(own[core], chunk, chunks, type_of(id));
  const ProductTile tile =
      product_tile(job, CoreBytes(cores_), 0, 1, load / tiling.depth_parts, tiling.chunks);
  const std::uint64_t depth =
      even_part(job.product.depth, load % tiling.depth_parts, tiling.depth_parts);
  const bool shared = !job.by_columns && cores_ > 1;
  if (!shared) {
    if (const BufferId kept = hoist(id, chunk, chunks, here); kept != BufferId::none) return kept;
  }
  const BufferId buffer = allocate(here, Lifetime::tile);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const std::uint64_t bytes =
        shared ? even_bytes(here[core], core, cores_, type_of(id)) : here[core];
    if (bytes == 0) continue;
    const Shape shape = chunk_shape(job, tile, depth, core, here[core]);
    TaskSpec copy = dma_task(copy_to_vtcm, name, id, shape, bytes);
    copy.core = core;
    copy.ddr_read = bytes;
    copy.movement = Movement::weights;
    TaskNeeds needs;
    tasks_.need_to_write(buffer, core, needs);
    const TaskIndex loaded = add(copy, std::move(needs));
    if (!shared) {
      tasks_.writes(loaded, buffer, core);
      continue;
    }
    TaskSpec send = dma_task(multicast_vtcm, name, id, shape, bytes);
    send.core = core;
    send.multicast = bytes;
    TaskNeeds send_needs{{loaded, true}};
    for (std::uint32_t to = 0; to < cores_; ++to) tasks_.need_to_write(buffer, to, send_needs);
    const TaskIndex sent = add(send, std::move(send_needs));
    for (std::uint32_t to = 0; to < cores_; ++to) tasks_.writes(sent, buffer, to);
  }
  return buffer;
}

void MatrixLowering::load_bias(const MatrixJob& job, std::vector<Operand>& operands) {
  for (TensorId id : job.plan->fused_constants) {
    Partition needed{tensor(id).shape, replicated, 1};
    const bool along_columns =
        job.by_columns && job.partition.axis >= 0 && tensor(id).shape.size() == 1 &&
        tensor(id).shape[0] == job.partition.shape[std::size_t(job.partition.axis)];
    if (along_columns) needed = {tensor(id).shape, 0, job.partition.unit};
    operands.push_back(tensor(id).constant
                           ? prepare_constant(id, needed, Layout::flat, Movement::bias)
                           : prepare(id, needed, Layout::flat));
  }
}

MatrixLowering::ProductTile MatrixLowering::product_tile(
    const MatrixJob& job, const CoreBytes& output_bytes, std::uint64_t row_tile,
    std::uint64_t row_tiles, std::uint64_t chunk, std::uint64_t chunks) const {
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
    rows = even_part(rows, row_tile, row_tiles);
    std::uint64_t groups = 1;
    if (job.groups > 1) {
      groups = even_part(divide_up(columns, job.product.columns), chunk, chunks);
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

void MatrixLowering::emit_product(const MatrixJob& job, ProductTile& tile,
                                  const NodeResult& result) {
  tile.writes = result.streamed ? allocate(tile.output_bytes, Lifetime::tile) : result.buffer;
  const DataType type = type_of(job.plan->activation);
  std::uint32_t described = cores_;  // the latest core whose operands were described
  StringId shape{}, operands{};
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (tile.rows[core] * tile.columns[core] * tile.groups[core] == 0) continue;
    TaskSpec spec = vector_task("aicconvolutiond32", tile.name, type);
    if (job.on_hmx) {
      spec.group = qaic::ThreadGroup::hmx;
      spec.thread_imbalance = 0;
    }
    spec.types = node_types_;
    spec.core = core;
    std::uint64_t macs = 0;
    spec.cycles =
        product_cycles(job, tile.rows[core], tile.columns[core], tile.groups[core], &macs);
    spec.macs = job.on_hmx ? macs : 0;
    spec.output_bytes = tile.output_bytes[core];
    if (described < cores_ && alike(job, tile, described, core)) {
      spec.shape = shape;
      spec.operands = operands;
    } else {
      works_on(spec, product_operands(job, tile, core));
      shape = spec.shape;
      operands = spec.operands;
      described = core;
    }
    spec.vtcm_read = tile.read_bytes;
    Parts parts;
    if (!tile.read_parts.empty()) parts.reads = tile.read_parts[core];
    if (!result.streamed) parts.writes = tile.written;
    add_compute(spec, tile.reads, tile.writes, parts);
  }
  if (result.streamed) store_product(job, tile, result);
}

// A tile that does not stay: through the operators that follow, and to DDR.
void MatrixLowering::store_product(const MatrixJob& job, const ProductTile& tile,
                                   const NodeResult& result) {
  const std::size_t product = position_;
  const bool goes_on = !job.chain.nodes.empty() && tile.whole_depth;
  const CoreShapes shapes = result_shapes(job, tile);
  if (goes_on) {
    emit_chain_tile(job.chain,
                    {tile.index, tile.tiles, tile.writes, {}, tile.output_bytes, shapes});
  }
  store_result_tile(result.storage, tile.writes, tile.output_bytes, shapes);
  release(tile.writes);
  if (!goes_on) return;
  position_ = product;
  begin_node(*job.node);
}

MatrixLowering::ProductTiling MatrixLowering::plan_tiling(const MatrixJob& job,
                                                          std::span<const Operand> operands,
                                                          const NodeResult& result,
                                                          std::uint64_t finer) const {
  ProductTiling tiling;
  tiling.rows = usual_tiles(operands, std::span(&result, 1));
  const bool streams =
      result.streamed || std::any_of(operands.begin(), operands.end(),
                                     [](const Operand& operand) { return operand.streamed; });
  if (streams) tiling.rows *= finer;
  const std::uint64_t own_weights = own_weight_bytes(job);
  // With a streamed activation, weights that fit are held, so that it is streamed only once.
  if (tiling.rows > 1 && own_weights <= resident_limit_ / finer) return tiling;
  // A core whose columns ran out would load weights that it has no use for.
  const bool split = job.by_columns && job.partition.axis >= 0;
  const std::uint64_t own_columns = divide_up(job.product.columns, split ? cores_ : 1);
  const std::uint64_t max_chunks =
      job.groups > 1 ? job.groups : divide_up(own_columns, target_.hmx_alignment);
  // A streamed activation is read again for every chunk: those are then as large as may be held.
  const bool reads_again = !operands.empty() && operands[0].streamed;
  const std::uint64_t chunk_bytes = divide_up(
      reads_again ? std::max(resident_limit_, weight_chunk_bytes) : weight_chunk_bytes, finer);
  tiling.chunks = std::clamp<std::uint64_t>(divide_up(own_weights, chunk_bytes), 1,
                                            std::max<std::uint64_t>(max_chunks, 1));
  // Of a result alone each chunk of columns is a part already.
  const bool only_result = std::none_of(operands.begin(), operands.end(),
                                        [](const Operand& operand) { return operand.streamed; });
  if (only_result) tiling.rows = divide_up(tiling.rows, tiling.chunks);
  // Very deep products: even one block of columns is too much at once, so the depth is cut and the
  // parts' products are added up in place.
  tiling.depth_parts =
      std::max<std::uint64_t>(divide_up(divide_up(own_weights, tiling.chunks), 2 * chunk_bytes), 1);
  return tiling;
}

std::uint64_t MatrixLowering::own_weight_bytes(const MatrixJob& job) const {
  const bool split = job.by_columns && job.partition.axis >= 0;
  return split ? largest(slice_bytes(job.partition, job.weight_bytes, cores_)) : job.weight_bytes;
}

std::vector<std::uint64_t> MatrixLowering::product_sizes(const MatrixJob& job,
                                                         std::span<const Operand> operands,
                                                         const NodeResult& result,
                                                         const ProductTiling& tiling) const {
  std::vector<std::uint64_t> sizes{
      divide_up(own_weight_bytes(job), tiling.chunks * tiling.depth_parts)};
  const auto streamed = streamed_sizes(operands, tiling.rows);
  sizes.insert(sizes.end(), streamed.begin(), streamed.end());
  if (!result.streamed) return sizes;
  // The last tile is the largest, save that its last block of columns may not be whole.
  const ProductTile last = product_tile(job, result.core_bytes, tiling.rows - 1, tiling.rows,
                                        tiling.chunks - 1, tiling.chunks);
  const std::uint64_t block =
      device_bytes(largest(last.rows) * target_.hmx_alignment, type_of(job.plan->result));
  const std::size_t at_once = std::max(tiles_at_once(result), max_places(job.chain));
  sizes.insert(sizes.end(), at_once,
               std::min(largest(last.output_bytes) + block, largest(result.core_bytes)));
  return sizes;
}

void MatrixLowering::lower_constant_product(MatrixJob& job) {
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
  job.chain = chain_behind(plan.result, job.partition);
  NodeResult result = make_product_result(job, layout);
  run_product_tiles(job, operands, halo, result);
  for (Operand& operand : operands) finish(operand);
  release(halo);
  if (!job.chain.nodes.empty()) position_ = job.chain.end - 1;
  keep_result(result);
}

NodeResult MatrixLowering::make_product_result(const MatrixJob& job, Layout layout) {
  NodeResult result;
  const TensorId made = job.chain.nodes.empty() ? job.plan->result : job.chain.result;
  result.storage = make_storage(made, job.partition, layout);
  pinned_.insert(result.storage);
  result.core_bytes = slice_bytes(job.partition, storages_[result.storage].bytes, cores_);
  place_result(result, fits(result.core_bytes));
  return result;
}

void MatrixLowering::run_product_tiles(const MatrixJob& job, std::vector<Operand>& operands,
                                       BufferId halo, NodeResult& result) {
  const std::uint64_t finer = find_room(
      [&](std::uint64_t times) {
        return product_sizes(job, operands, result, plan_tiling(job, operands, result, times));
      },
      operands, std::span(&result, 1));
  const ProductTiling tiling = plan_tiling(job, operands, result, finer);
  const std::uint64_t loads = tiling.chunks * tiling.depth_parts;
  const bool whole_rows = tiling.chunks == 1 && job.plan->op_class == OpClass::matmul;
  PieceWriter made(result.core_bytes, tiling.rows, tiling.chunks,
                   whole_rows ? job.product.columns : 1, job.plan->op_class == OpClass::matmul);
  if (std::max({loads, tiling.rows, loads * tiling.rows}) > max_tasks) refuse_more_tasks();
  MatrixJob part_of_depth = job;
  part_of_depth.product.depth = divide_up(job.product.depth, tiling.depth_parts);
  for (std::uint64_t load = 0; load < loads; ++load) {
    const BufferId weights = load_weights(job, tiling, load);
    const std::uint64_t chunk = load / tiling.depth_parts;
    for (std::uint64_t row = 0; row < tiling.rows; ++row) {
      ProductTile tile =
          product_tile(job, result.core_bytes, row, tiling.rows, chunk, tiling.chunks);
      tile.index = load * tiling.rows + row;
      tile.tiles = loads * tiling.rows;
      tile.whole_depth = (load + 1) % tiling.depth_parts == 0;
      tile.name = name_of_tile(tile.index, tile.tiles);
      tile.operands = operands;
      tile.halo = halo;
      tile.depth = even_part(job.product.depth, load % tiling.depth_parts, tiling.depth_parts);
      tile.adds_up = load % tiling.depth_parts > 0;
      tile.row = row;
      tile.row_tiles = tiling.rows;
      tile.reads = {weights, halo};
      tile.read_bytes = bytes_in(tile.reads) +
                        bytes_of_resident(std::span(operands).first(1), tiling.rows) +
                        bytes_of_resident(std::span(operands).subspan(1), 1);
      std::vector<BufferId> own;
      for (const Operand& operand : operands) {
        tile.reads.push_back(operand.streamed
                                 ? own.emplace_back(load_tile(operand, row, tiling.rows))
                                 : operand.buffer);
      }
      tile.read_bytes += bytes_in(own);
      tile.written = made.piece(chunk * tiling.rows + row, tile.output_bytes);
      emit_product(part_of_depth, tile, result);
      for (BufferId buffer : own) release(buffer);
    }
    release(weights);
  }
  if (cuts_resident_ && !result.streamed) storages_[result.storage].pieces = made.pieces();
}

// Batches (heads) that the operands share are dealt out to the cores; else rows.
Partition MatrixLowering::choose_batch_partition(const MatrixJob& job) const {
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

// What an operand of a product of two activations must be for the result to have the job's
// partition.
Partition MatrixLowering::needed_for_batches(const MatrixJob& job, TensorId id,
                                             bool weights) const {
  Partition needed{tensor(id).shape, replicated, 1};
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
std::uint64_t MatrixLowering::batch_tiles(const MatrixJob& job, std::span<const Operand> operands,
                                          const NodeResult& result) const {
  const int rank = int(job.partition.shape.size());
  const bool shared_batches = job.partition.axis >= 0 && job.partition.axis < rank - 2;
  const std::uint64_t per_core =
      shared_batches ? divide_up(job.groups, std::min<std::uint64_t>(job.groups, cores_))
                     : job.groups;
  return std::max(std::clamp<std::uint64_t>(per_core, 1, 64),
                  usual_tiles(operands, std::span(&result, 1)));
}

std::uint64_t MatrixLowering::find_batch_room(const MatrixJob& job, std::vector<Operand>& operands,
                                              NodeResult& result) {
  const std::uint64_t finer = find_room(
      [&](std::uint64_t times) {
        const std::uint64_t cuts = batch_tiles(job, operands, result) * times;
        auto sizes = streamed_sizes(operands, cuts);
        if (result.streamed) {
          const ProductTile last = batch_tile(job, result.core_bytes, cuts - 1, cuts, true);
          sizes.insert(sizes.end(), tiles_at_once(result), largest(last.output_bytes));
        }
        return sizes;
      },
      operands, std::span(&result, 1));
  const std::uint64_t tiles = batch_tiles(job, operands, result) * finer;
  if (tiles > max_tasks) refuse_more_tasks();
  return tiles;
}

// Whole batches while there are enough of them, else rows of one, else, where streaming needs more
// tiles than there are rows, columns of one row.
MatrixLowering::ProductTile MatrixLowering::batch_tile(const MatrixJob& job,
                                                       const CoreBytes& output_bytes,
                                                       std::uint64_t index, std::uint64_t tiles,
                                                       bool streamed) const {
  ProductTile tile;
  const DataType type = type_of(job.plan->result);
  const std::uint64_t bits = std::max(bits_of(type), 1u);  // strings have none
  const std::uint64_t columns = job.product.columns;
  for (std::uint32_t core = 0; core < cores_; ++core) {
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
  tile.name = name_of_tile(index, tiles);
  return tile;
}

std::vector<std::vector<BufferPart>> MatrixLowering::parts_of_rows(
    const Operand& activation, const std::vector<RowRange>& rows) const {
  if (rows.empty() || activation.storage == no_storage || activation.streamed) return {};
  const Storage& storage = storages_[activation.storage];
  const bool in_order =
      storage.pieces != nullptr && storage.buffer == activation.buffer &&
      storage.pieces->row_elements % std::uint64_t(tensor(activation.tensor).shape.back()) == 0;
  if (!in_order) return {};
  std::vector<std::vector<BufferPart>> parts(cores_);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const RowRange& range = rows[core];
    const std::uint64_t bytes = activation.core_bytes[core];
    if (range.all == 0 || bytes % range.all != 0) return {};
    parts[core] = {part_of_bytes(*storage.pieces, core, bytes / range.all * range.first,
                                 bytes / range.all * range.last)};
  }
  return parts;
}

void MatrixLowering::lower_dynamic_product(MatrixJob& job) {
  const NodePlan& plan = *job.plan;
  job.partition = choose_batch_partition(job);
  const Layout left = job.on_hmx ? Layout::d32 : Layout::flat;
  const Layout right = job.on_hmx ? Layout::weights_d32 : Layout::flat;
  std::vector<Operand> operands;
  operands.push_back(
      prepare(plan.activation, needed_for_batches(job, plan.activation, false), left));
  operands.push_back(prepare(plan.weights, needed_for_batches(job, plan.weights, true), right));
  load_bias(job, operands);
  NodeResult result = make_product_result(job, left);
  const std::uint64_t tiles = find_batch_room(job, operands, result);
  const bool streamed = result.streamed || operands[0].streamed || operands[1].streamed;
  PieceWriter made(result.core_bytes, tiles, 1, streamed ? 1 : job.product.columns);
  for (std::uint64_t index = 0; index < tiles; ++index) {
    ProductTile tile = batch_tile(job, result.core_bytes, index, tiles, streamed);
    tile.written = made.piece(index, tile.output_bytes);
    tile.operands = operands;
    tile.depth = job.product.depth;
    tile.row = index;
    tile.row_tiles = tiles;
    tile.read_parts = parts_of_rows(operands[0], tile.row_range);
    tile.read_bytes = bytes_of_resident(operands, tiles);
    std::vector<BufferId> own;
    for (const Operand& operand : operands) {
      tile.reads.push_back(operand.streamed ? own.emplace_back(load_tile(operand, index, tiles))
                                            : operand.buffer);
    }
    tile.read_bytes += bytes_in(own);
    emit_product(job, tile, result);
    for (BufferId buffer : own) release(buffer);
  }
  if (cuts_resident_ && !result.streamed) storages_[result.storage].pieces = made.pieces();
  for (Operand& operand : operands) finish(operand);
  keep_result(result);
}

}  // namespace npuscope::npu
