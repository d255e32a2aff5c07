// Products with constant weights: convolutions, fully connected layers.
#include <algorithm>
#include <cmath>

#include "npu/targets/nsp/compile/lower/product.hpp"
#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {
namespace {

constexpr std::uint64_t weight_chunk_bytes = 1 << 20;  // streamed at a time: long DDR bursts, yet
                                                       // several fit beside the activations

// HVX works on one of so many parts of a product while the HMX makes the next; smaller ones would
// cost more than they gain.
constexpr std::uint64_t pieces_for_vectors = 4;
constexpr std::uint64_t min_piece_bytes = 64 * 1024;

// All of `all` in `parts` portions of whole `grain`s.
std::uint64_t grain_part(std::uint64_t all, std::uint64_t index, std::uint64_t parts,
                         std::uint64_t grain) {
  const std::uint64_t grains = divide_up(all, grain);
  const std::uint64_t begin = std::min(all, grains * index / parts * grain);
  const std::uint64_t end = std::min(all, grains * (index + 1) / parts * grain);
  return end - begin;
}

// Products with constant weights. The cores share the work by columns (each core streams its own
// columns' weights from DDR; all need the whole activation) or by rows (each core has rows of the
// activation; every weight is read from DDR once and multicast).
class ConstantProducts : LoweringPart {
 public:
  ConstantProducts(const CompileContext& context, TaskWriter& writer, Placement& place,
                   Chains& chains, ProductTasks& tasks)
      : LoweringPart(context, writer, place), chains_(chains), tasks_(tasks) {}

  // With the row of elementwise operators after it, where its tiles go through that: the writer's
  // position is then that of the row's last node.
  void lower(ProductJob& job) {
    choose_product_partition(context_, job);
    const NodePlan& plan = *job.plan;
    count_weights(job);
    const Layout layout = job.on_hmx ? Layout::d32 : Layout::flat;
    Partition needed{context_.tensor(plan.activation).shape, replicated, 1};
    if (!job.by_columns) needed.axis = job.partition.axis;
    if (needed.axis >= int(needed.shape.size())) needed.axis = replicated;
    std::vector<Operand> operands{place_.operands.prepare(plan.activation, needed, layout)};
    const BufferId halo =
        exchange_halo(context_, writer_, place_, *job.node, operands[0], job.partition);
    tasks_.load_bias(job, operands);
    job.chain = chains_.behind(plan.result, job.partition);
    NodeResult result = tasks_.make_result(job, layout);
    run_tiles(job, operands, halo, result);
    for (Operand& operand : operands) place_.operands.finish(operand);
    place_.residency.release(halo);
    if (!job.chain.nodes.empty()) writer_.go_to(job.chain.end - 1);
    place_.operands.keep_result(result);
  }

 private:
  struct Tiling {
    std::uint64_t rows = 1;         // tiles of the activation
    std::uint64_t chunks = 1;       // of the weights' columns
    std::uint64_t depth_parts = 1;  // of each chunk
    std::uint64_t loads() const { return chunks * depth_parts; }
  };

  void count_weights(const ProductJob& job) {
    const std::uint64_t grain = context_.target.hmx_alignment;
    const std::uint64_t channels = divide_up(job.product.depth, job.product.kernel_area);
    const TensorId id = job.plan->weights;
    const std::uint64_t padded = device_bytes(round_up(channels, grain) * job.product.kernel_area *
                                                  round_up(job.product.columns, grain) * job.groups,
                                              context_.type_of(id));
    place_.constants.count(id, context_.ddr_bytes(id, job.weight_bytes),
                           context_.ddr_bytes(id, padded));
  }

  void run_tiles(const ProductJob& job, std::vector<Operand>& operands, BufferId halo,
                 NodeResult& result) {
    const Tiling tiling = find_tiling(job, operands, result);
    const std::uint64_t loads = tiling.loads();
    const bool is_matmul = job.plan->op_class == OpClass::matmul;
    PieceWriter made(result.core_bytes, tiling.rows, tiling.chunks,
                     tiling.chunks == 1 && is_matmul ? job.product.columns : 1, is_matmul);
    if (tiling.chunks == 1 && context_.images[std::uint32_t(job.plan->result)]) made.are_bands();
    const bool follows =
        tiling.rows > 1 && halo == BufferId::none && goes_by_rows(job, operands, tiling.rows);
    ProductJob part_of_depth = job;
    part_of_depth.product.depth = divide_up(job.product.depth, tiling.depth_parts);
    Strips strips{comes_in_strips(job, operands, tiling, result) ? std::uint32_t(tiling.rows) : 1,
                  0, 0};
    for (std::uint64_t load = 0; load < loads; ++load) {
      const BufferId weights = load_weights(job, tiling, load);
      const std::uint64_t chunk = load / tiling.depth_parts;
      for (std::uint64_t row = 0; row < tiling.rows; ++row) {
        ProductTile tile = tile_of(job, result.core_bytes, row, tiling.rows, chunk, tiling.chunks,
                                   whole_rows(job, operands, result, tiling.rows));
        tile.index = load * tiling.rows + row;
        tile.tiles = loads * tiling.rows;
        tile.whole_depth = (load + 1) % tiling.depth_parts == 0;
        tile.name = writer_.name_of_tile(tile.index, tile.tiles);
        tile.operands = operands;
        tile.halo = halo;
        tile.depth = even_part(job.product.depth, load % tiling.depth_parts, tiling.depth_parts);
        tile.adds_up = load % tiling.depth_parts > 0;
        tile.row = row;
        tile.row_tiles = tiling.rows;
        tile.reads = {weights, halo};
        tile.read_bytes =
            writer_.bytes_in(tile.reads) +
            place_.tiles.bytes_of_resident(std::span(operands).first(1), tiling.rows) +
            place_.tiles.bytes_of_resident(std::span(operands).subspan(1), 1);
        const auto own = place_.transfers.load_tiles(operands, row, tiling.rows, tile.reads);
        tile.read_bytes += writer_.bytes_in(own);
        tile.written = made.piece(chunk * tiling.rows + row, tile.output_bytes);
        if (follows) tile.read_parts.assign(context_.cores, read_parts(job, tile));
        if (strips.count > 1) {
          tile.written = strip_part(row, tiling.rows, chunk, tiling.chunks);
          tile.read_parts = {read_parts(job, tile)};
          tile.is_strip = tiling.chunks == 1;
          strips.interval +=
              double(product_work(context_, job, tile.rows[0], tile.columns[0], tile.groups[0])
                         .cycles) /
              double(tiling.rows);
        }
        tasks_.emit(part_of_depth, tile, result);
        for (BufferId buffer : own) place_.residency.release(buffer);
      }
      release_weights(job, weights);
    }
    if (context_.cuts_resident && !result.streamed)
      place_.storages[result.storage].pieces = made.pieces();
    place_.storages[result.storage].strips = strips;
  }

  // Places of an image that bands of a convolution in VTCM are cut by: whole rows, else one.
  std::uint64_t whole_rows(const ProductJob& job, std::span<const Operand> operands,
                           const NodeResult& result, std::uint64_t bands) const {
    const Shape& made = context_.tensor(job.plan->result).shape;
    const bool streams = result.streamed || std::ranges::any_of(operands, &Operand::streamed);
    if (!context_.cuts_resident || streams || !job.is_convolution() || made.size() != 4) return 1;
    const auto row = std::uint64_t(made[3]), rows = std::uint64_t(made[2]) / context_.cores;
    return job.product.rows % row == 0 && rows >= bands ? row : 1;
  }

  bool comes_in_strips(const ProductJob& job, std::span<const Operand> operands,
                       const Tiling& tiling, const NodeResult& result) const {
    const bool sequence =
        job.is_convolution() && context_.tensor(job.plan->result).shape.size() != 4;
    return context_.target.hmx_tile_rows > 0 && !sequence && tiling.rows > 1 &&
           tiling.depth_parts == 1 && !result.streamed &&
           std::ranges::none_of(operands, [](const Operand& each) { return each.streamed; });
  }

  // Whether rows of the result need no more than the same rows of the activation, and those came
  // about one after the other.
  bool goes_by_rows(const ProductJob& job, std::span<const Operand> operands,
                    std::uint64_t rows) const {
    if (operands.empty() || operands[0].storage == no_storage || operands[0].streamed) return false;
    const Pieces* pieces = place_.storages[operands[0].storage].pieces.get();
    if (pieces == nullptr) return false;
    if (job.is_convolution()) return pieces->bands && windows_fit(context_, *job.node, rows);
    const Shape& shape = context_.tensor(operands[0].tensor).shape;
    return pieces->columns == 1 && !shape.empty() && shape.back() > 0 &&
           pieces->row_elements % std::uint64_t(shape.back()) == 0;
  }

  // Rows lie one after the other, and of each the chunks of columns.
  static BufferPart strip_part(std::uint64_t row, std::uint64_t rows, std::uint64_t chunk,
                               std::uint64_t chunks) {
    const auto first = std::uint32_t(row * chunks + chunk);
    return {first, first + 1, std::uint32_t(rows * chunks)};
  }

  // Of what a strip reads: its rows of the activation and, where windows reach beyond those, the
  // strips around them.
  std::vector<BufferPart> read_parts(const ProductJob& job, const ProductTile& tile) const {
    std::vector<BufferPart> parts(tile.reads.size());
    const bool reaches = job.is_convolution() && job.product.kernel_area > 1;
    constexpr std::size_t activation = 2;  // after the weights and the halo
    parts[activation] = strips_of(tile.row, tile.row + 1, tile.row_tiles, reaches);
    return parts;
  }

  Tiling find_tiling(const ProductJob& job, std::vector<Operand>& operands, NodeResult& result) {
    const std::uint64_t finer = place_.tiles.find_cuts(
        [&](std::uint64_t times) {
          return tile_sizes(job, operands, result, plan_tiling(job, operands, result, times));
        },
        operands, std::span(&result, 1));
    const Tiling tiling = plan_tiling(job, operands, result, finer);
    const std::uint64_t loads = tiling.loads();
    writer_.check_tiles(std::max({loads, tiling.rows, loads * tiling.rows}));
    return tiling;
  }

  Tiling plan_tiling(const ProductJob& job, std::span<const Operand> operands,
                     const NodeResult& result, std::uint64_t finer) const {
    Tiling tiling;
    tiling.rows = place_.tiles.usual_tiles(operands, std::span(&result, 1));
    if (context_.target.hmx_tile_rows > 0) tiling.rows = std::max(tiling.rows, row_tiles(job));
    const bool streams =
        result.streamed ||
        std::ranges::any_of(operands, [](const Operand& operand) { return operand.streamed; });
    if (streams) tiling.rows *= finer;
    const std::uint64_t own_weights = own_weight_bytes(job);
    const bool fixed = context_.target.hmx_tile_columns > 0;
    // With a streamed activation, weights that fit are held, so that it is streamed only once.
    const CompileOptions& options = context_.options;
    const bool holds_weights = options.channel_split * options.overlap_split == 1 && !fixed;
    if (holds_weights && tiling.rows > 1 && own_weights <= context_.resident_limit / finer)
      return tiling;
    // A core whose columns ran out would load weights that it has no use for.
    const bool split = job.by_columns && job.partition.axis >= 0;
    const std::uint64_t own_columns = divide_up(job.product.columns, split ? context_.cores : 1);
    const std::uint64_t max_chunks =
        job.groups > 1 ? job.groups : divide_up(own_columns, context_.target.hmx_alignment);
    // A streamed activation is read again for every chunk: those are then as large as may be held.
    const bool reads_again = !operands.empty() && operands[0].streamed;
    const std::uint64_t chunk_bytes = divide_up(
        reads_again ? std::max(context_.resident_limit, weight_chunk_bytes) : weight_chunk_bytes,
        finer * options.overlap_split);
    const std::uint64_t min_chunks = options.channel_split;
    tiling.chunks =
        std::clamp<std::uint64_t>(std::max(divide_up(own_weights, chunk_bytes), min_chunks), 1,
                                  std::max<std::uint64_t>(max_chunks, 1));
    if (fixed && job.groups > 1) {
      tiling.chunks = job.groups;
    } else if (fixed) {
      tiling.chunks = std::clamp<std::uint64_t>(
          divide_up(own_columns, std::uint64_t{context_.target.hmx_tile_columns}), tiling.chunks,
          std::max(max_chunks, tiling.chunks));
    }
    // Of a result alone each chunk of columns is a part already.
    const bool only_result =
        std::ranges::none_of(operands, [](const Operand& operand) { return operand.streamed; });
    if (only_result && !fixed) tiling.rows = divide_up(tiling.rows, tiling.chunks);
    // Very deep products: even one block of columns is too much at once, so the depth is cut and
    // the parts' products are added up in place.
    tiling.depth_parts = std::max<std::uint64_t>(
        divide_up(divide_up(own_weights, tiling.chunks), 2 * chunk_bytes), 1);
    const bool takes_turns = feeds_vectors(job, result) || follows_vectors(job, operands);
    if (tiling.loads() == 1 && !streams && takes_turns)
      tiling.rows = std::max(tiling.rows, pieces_for_vectors);
    return tiling;
  }

  // Whether HVX goes on with the result, and that is large enough for it to begin with a part while
  // the HMX makes the next.
  bool feeds_vectors(const ProductJob& job, const NodeResult& result) const {
    if (!context_.cuts_resident || !job.on_hmx ||
        largest(result.core_bytes) < pieces_for_vectors * min_piece_bytes)
      return false;
    return std::ranges::any_of(context_.tensor(job.plan->result).consumers, [&](NodeId id) {
      const NodePlan& plan = context_.plans[std::uint32_t(id)];
      return plan.fate == NodeFate::execute &&
             (plan.op_class == OpClass::elementwise || plan.op_class == OpClass::softmax ||
              plan.op_class == OpClass::pooling);
    });
  }

  // Whether HVX makes the activation band by band, and that is large enough for the HMX to begin
  // with a part.
  bool follows_vectors(const ProductJob& job, std::span<const Operand> operands) const {
    return context_.cuts_resident && job.on_hmx &&
           goes_by_rows(job, operands, pieces_for_vectors) &&
           place_.storages[operands[0].storage].of_vectors &&
           largest(operands[0].core_bytes) >= pieces_for_vectors * min_piece_bytes;
  }

  // Strips of an image, blocks of a matrix.
  std::uint64_t row_tiles(const ProductJob& job) const {
    const std::uint64_t strip = context_.target.hmx_tile_rows;
    const bool transposed = job.node->op == "ConvTranspose";
    const Shape& made = context_.tensor(transposed ? job.plan->activation : job.plan->result).shape;
    if (job.is_convolution() && made.size() == 4) {
      return std::max<std::uint64_t>(
          1, std::uint64_t(made[0]) * divide_up(std::uint64_t(made[2]), strip));
    }
    return std::max<std::uint64_t>(1, divide_up(job.product.rows, strip * 32));
  }

  std::vector<std::uint64_t> tile_sizes(const ProductJob& job, std::span<const Operand> operands,
                                        const NodeResult& result, const Tiling& tiling) const {
    std::vector<std::uint64_t> sizes{divide_up(own_weight_bytes(job), tiling.loads())};
    const auto streamed = place_.tiles.streamed_sizes(operands, tiling.rows);
    sizes.insert(sizes.end(), streamed.begin(), streamed.end());
    if (!result.streamed) return sizes;
    // The last tile is the largest, save that its last block of columns may not be whole.
    const ProductTile last = tile_of(job, result.core_bytes, tiling.rows - 1, tiling.rows,
                                     tiling.chunks - 1, tiling.chunks);
    const std::uint64_t block = device_bytes(largest(last.rows) * context_.target.hmx_alignment,
                                             context_.type_of(job.plan->result));
    const std::size_t at_once =
        std::max(place_.tiles.tiles_at_once(result), chains_.max_places(job.chain));
    sizes.insert(sizes.end(), at_once,
                 std::min(largest(last.output_bytes) + block, largest(result.core_bytes)));
    return sizes;
  }

  std::uint64_t own_weight_bytes(const ProductJob& job) const {
    const bool split = job.by_columns && job.partition.axis >= 0;
    return split ? largest(context_.slices_of(job.partition, job.weight_bytes)) : job.weight_bytes;
  }

  // A chunk of the weights in VTCM. By columns each core loads its own; by rows each loads a part
  // and sends it to all, so that DDR is read once.
  BufferId load_weights(const ProductJob& job, const Tiling& tiling, std::uint64_t load) {
    const TensorId id = job.plan->weights;
    const std::uint64_t chunk = load, chunks = tiling.loads();
    const StringId name = writer_.name_of_tile(chunk, chunks);
    CoreBytes own(context_.cores, job.weight_bytes);  // all of a core's weights
    if (job.by_columns && job.partition.axis >= 0) {
      own = context_.slices_of({job.partition.shape, job.partition.axis, job.partition.unit},
                               job.weight_bytes);
    }
    const CoreBytes here = even_bytes(own, chunk, chunks, context_.type_of(id));
    const bool shared = !job.by_columns && context_.cores > 1;
    if (!shared) {
      if (const BufferId kept = place_.constants.keep(id, chunk, chunks, here);
          kept != BufferId::none)
        return kept;
    }
    const bool again = is_used_again(job);
    if (const BufferId held = place_.held.find(id, chunk, chunks, here); held != BufferId::none)
      return held;
    const BufferId buffer =
        place_.residency.allocate(here, again ? Lifetime::tensor : Lifetime::tile);
    if (again) place_.held.hold(id, chunk, chunks, here, buffer);
    ProductTile tile;  // that the chunk is for
    if (writer_.describes())
      tile =
          tile_of(job, CoreBytes(context_.cores), 0, 1, load / tiling.depth_parts, tiling.chunks);
    const std::uint64_t depth =
        even_part(job.product.depth, load % tiling.depth_parts, tiling.depth_parts);
    for (std::uint32_t core = 0; core < context_.cores; ++core) {
      const std::uint64_t bytes =
          shared ? even_bytes(here[core], core, context_.cores, context_.type_of(id)) : here[core];
      if (bytes == 0) continue;
      const Shape shape = tasks_.chunk_shape(job, tile, depth, core, here[core]);
      Transfers::Load part{core, name, id, shape, bytes, Movement::weights};
      part.packed = context_.packed_type(id);
      shared ? place_.transfers.load_for_all(part, buffer)
             : place_.transfers.load_for_one(part, buffer);
    }
    return buffer;
  }

  // By a later node (the next step of a recurrent layer): they stay meanwhile, while there is room.
  bool is_used_again(const ProductJob& job) const {
    const auto& consumers = context_.tensor(job.plan->weights).consumers;
    return !consumers.empty() && std::size_t(consumers.back()) > writer_.position() &&
           own_weight_bytes(job) <= context_.resident_limit;
  }

  void release_weights(const ProductJob& job, BufferId weights) {
    const TensorId id = job.plan->weights;
    if (!is_used_again(job) || !place_.held.is_held(id, weights)) place_.held.drop(id, weights);
  }

  ProductTile tile_of(const ProductJob& job, const CoreBytes& output_bytes, std::uint64_t row_tile,
                      std::uint64_t row_tiles, std::uint64_t chunk, std::uint64_t chunks,
                      std::uint64_t row_unit = 1) const {
    ProductTile tile;
    const std::uint64_t all_columns = job.product.columns * std::max<std::uint64_t>(job.groups, 1);
    const std::uint64_t all_bytes = std::max<std::uint64_t>(context_.bytes_of(job.plan->result), 1);
    for (std::uint32_t core = 0; core < context_.cores; ++core) {
      const bool split = job.partition.axis >= 0;
      std::uint64_t rows = job.product.rows;
      std::uint64_t columns = all_columns;
      if (split) {
        const auto mine = share(job.partition.shape[std::size_t(job.partition.axis)],
                                job.partition.unit, core, context_.cores);
        const auto extent = std::uint64_t(job.partition.shape[std::size_t(job.partition.axis)]);
        (job.by_columns ? columns : rows) =
            divide_up((job.by_columns ? all_columns : job.product.rows) * mine, extent);
      }
      rows = even_part(rows / row_unit, row_tile, row_tiles) * row_unit;
      std::uint64_t groups = 1;
      if (job.groups > 1) {
        groups = even_part(divide_up(columns, job.product.columns), chunk, chunks);
        columns = groups > 0 ? job.product.columns : 0;
      } else {
        columns = grain_part(columns, chunk, chunks, context_.target.hmx_alignment);
      }
      tile.rows.push_back(rows);
      tile.columns.push_back(columns);
      tile.groups.push_back(groups);
      const std::uint64_t elements = rows * columns * groups;
      tile.output_bytes.push_back(std::min(
          output_bytes[core],
          std::uint64_t(
              std::llround(double(all_bytes) * double(elements) /
                           double(std::max<std::uint64_t>(job.product.rows * all_columns, 1))))));
    }
    return tile;
  }

  Chains& chains_;
  ProductTasks& tasks_;
};

}  // namespace

void lower_constant_product(const CompileContext& context, TaskWriter& writer, Placement& place,
                            Chains& chains, ProductTasks& tasks, ProductJob& job) {
  ConstantProducts(context, writer, place, chains, tasks).lower(job);
}

}  // namespace npuscope::npu::nsp
