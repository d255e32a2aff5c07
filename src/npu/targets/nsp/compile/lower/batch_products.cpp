// Products of two activations.
#include <algorithm>

#include "npu/targets/nsp/compile/lower/product.hpp"

namespace npuscope::npu::nsp {
namespace {

// Products of two activations (attention): the cores share the batches, head by head, else the
// rows.
class BatchProducts : LoweringPart {
 public:
  BatchProducts(const CompileContext& context, TaskWriter& writer, Placement& place,
                ProductTasks& tasks)
      : LoweringPart(context, writer, place), tasks_(tasks) {}

  void lower(ProductJob& job) {
    const NodePlan& plan = *job.plan;
    job.partition = choose_partition(job);
    const Layout left = job.on_hmx ? Layout::d32 : Layout::flat;
    const Layout right = job.on_hmx ? Layout::weights_d32 : Layout::flat;
    std::vector<Operand> operands;
    operands.push_back(place_.operands.prepare(
        plan.activation, partition_needed(job, plan.activation, false), left));
    operands.push_back(
        place_.operands.prepare(plan.weights, partition_needed(job, plan.weights, true), right));
    tasks_.load_bias(job, operands);
    NodeResult result = tasks_.make_result(job, left);
    const std::uint64_t tiles = find_tiles(job, operands, result);
    const bool streamed = result.streamed || operands[0].streamed || operands[1].streamed;
    PieceWriter made(result.core_bytes, tiles, 1, streamed ? 1 : job.product.columns);
    Strips strips;  // heads, on an HTP
    if (context_.target.hmx_tile_rows > 0 && job.on_hmx && !streamed) {
      strips.count = std::uint32_t(tiles);
      const std::uint64_t rows = divide_up(job.product.rows * job.groups, tiles);
      strips.interval = double(product_work(context_, job, rows, job.product.columns, 1).cycles);
    }
    for (std::uint64_t index = 0; index < tiles; ++index) {
      ProductTile tile = tile_of(job, result.core_bytes, index, tiles, streamed);
      tile.written = strips.count > 1 ? strips_of(index, index + 1, tiles, false)
                                      : made.piece(index, tile.output_bytes);
      tile.operands = operands;
      tile.depth = job.product.depth;
      tile.row = index;
      tile.row_tiles = tiles;
      tile.read_parts = parts_of_rows(operands[0], tile.row_range);
      if (strips.count > 1) tile.read_parts = {{tile.written}};
      tile.read_bytes = place_.tiles.bytes_of_resident(operands, tiles);
      const auto own = place_.transfers.load_tiles(operands, index, tiles, tile.reads);
      tile.read_bytes += writer_.bytes_in(own);
      tasks_.emit(job, tile, result);
      for (BufferId buffer : own) place_.residency.release(buffer);
    }
    if (context_.cuts_resident && !result.streamed)
      place_.storages[result.storage].pieces = made.pieces();
    place_.storages[result.storage].strips = strips;
    for (Operand& operand : operands) place_.operands.finish(operand);
    place_.operands.keep_result(result);
  }

 private:
  // Batches (heads) that the operands share are dealt out to the cores; else rows.
  Partition choose_partition(const ProductJob& job) const {
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

  // What an operand must be for the result to have the job's partition.
  Partition partition_needed(const ProductJob& job, TensorId id, bool weights) const {
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
  std::uint64_t usual_tiles(const ProductJob& job, std::span<const Operand> operands,
                            const NodeResult& result) const {
    const int rank = int(job.partition.shape.size());
    const bool shared_batches = job.partition.axis >= 0 && job.partition.axis < rank - 2;
    const std::uint64_t per_core =
        shared_batches ? divide_up(job.groups, std::min<std::uint64_t>(job.groups, context_.cores))
                       : job.groups;
    return std::max(std::clamp<std::uint64_t>(per_core, 1, 64),
                    place_.tiles.usual_tiles(operands, std::span(&result, 1)));
  }

  std::uint64_t find_tiles(const ProductJob& job, std::vector<Operand>& operands,
                           NodeResult& result) {
    const std::uint64_t finer = place_.tiles.find_cuts(
        [&](std::uint64_t times) {
          const std::uint64_t cuts = usual_tiles(job, operands, result) * times;
          auto sizes = place_.tiles.streamed_sizes(operands, cuts);
          if (result.streamed) {
            const ProductTile last = tile_of(job, result.core_bytes, cuts - 1, cuts, true);
            sizes.insert(sizes.end(), place_.tiles.tiles_at_once(result),
                         largest(last.output_bytes));
          }
          return sizes;
        },
        operands, std::span(&result, 1));
    const std::uint64_t tiles = usual_tiles(job, operands, result) * finer;
    writer_.check_tiles(tiles);
    return tiles;
  }

  // Whole batches while there are enough of them, else rows of one, else, where streaming needs
  // more tiles than there are rows, columns of one row.
  ProductTile tile_of(const ProductJob& job, const CoreBytes& output_bytes, std::uint64_t index,
                      std::uint64_t tiles, bool streamed) const {
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

  // The parts of the activation from which rows [first, last) of `rows` on each core are made.
  std::vector<std::vector<BufferPart>> parts_of_rows(const Operand& activation,
                                                     const std::vector<RowRange>& rows) const {
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

  ProductTasks& tasks_;
};

}  // namespace

void lower_batch_product(const CompileContext& context, TaskWriter& writer, Placement& place,
                         ProductTasks& tasks, ProductJob& job) {
  BatchProducts(context, writer, place, tasks).lower(job);
}

}  // namespace npuscope::npu::nsp
