#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "npu/targets/nsp/compile/lower/tile_formats.hpp"

namespace npuscope::npu::nsp {
namespace {

// One tile of a kernel: its share of the results, and what it uses of the operands.
struct VectorTile {
  std::uint64_t index = 0, tiles = 1;
  std::vector<BufferId> reads;
  std::vector<BufferPart> read_parts;  // as `reads`; empty: all of them
  std::uint64_t read_bytes = 0;
  std::span<const Operand> operands;
  std::uint64_t streamed = 0, streamed_tiles = 1;  // which of their tiles
  std::vector<CoreBytes> result_bytes;             // by result
  VectorWork work;                                 // of strips; no cycles: by the bytes
  CoreShapes result_shapes;  // of the first; empty: some of the outermost dimension
  BufferPart written;        // of results that stay in VTCM
};

class VectorTiles : LoweringPart {
 public:
  using LoweringPart::LoweringPart;

  // Places the node's results and makes them of the operands (and of halos), in tiles where
  // something is streamed or the operands came about in pieces.
  void run(const Node& node, const VectorKernel& kernel, const Partition& partition, Layout layout,
           std::vector<Operand>& operands, const std::vector<BufferId>& halos) {
    auto results = place_results(node, kernel, partition, layout, operands);
    const std::uint64_t tiles = find_tiles(operands, results);
    const bool cut = tiles == 1 && (follow_pieces(node, kernel, operands, halos, results) ||
                                    follow_strips(node, kernel, operands, results));
    for (std::uint64_t index = 0; index < tiles && !cut; ++index) {
      VectorTile tile;
      tile.index = index;
      tile.tiles = tiles;
      tile.streamed = index;
      tile.streamed_tiles = tiles;
      tile.operands = operands;
      tile.reads = halos;
      const auto own = place_.transfers.load_tiles(operands, index, tiles, tile.reads);
      tile.read_bytes = writer_.bytes_in(halos) + place_.tiles.bytes_of_resident(operands, tiles) +
                        writer_.bytes_in(own);
      for (const NodeResult& result : results) {
        tile.result_bytes.push_back(
            even_bytes(result.core_bytes, index, tiles, place_.storages[result.storage].type));
      }
      emit(kernel, tile, results);
      for (BufferId buffer : own) place_.residency.release(buffer);
    }
    for (const NodeResult& result : results) place_.operands.keep_result(result);
  }

  // One tile on all cores.
  void emit(const VectorKernel& kernel, const VectorTile& tile,
            const std::vector<NodeResult>& results) {
    std::vector<BufferId> made;
    for (std::size_t i = 0; i < results.size(); ++i) {
      made.push_back(place_.transfers.place_tile(results[i], tile.result_bytes[i]));
    }
    const auto is_idle = [&](std::uint32_t core) {
      return std::ranges::all_of(tile.result_bytes,
                                 [&](const CoreBytes& bytes) { return bytes[core] == 0; });
    };
    std::vector<BufferUse> uses;
    for (std::uint32_t core = 0; core < context_.cores; ++core) {
      if (is_idle(core)) continue;
      const TaskSpec spec = describe(kernel, tile, results, core);
      uses.clear();
      for (std::size_t i = 0; i < tile.reads.size(); ++i) {
        const BufferPart part = tile.read_parts.empty() ? BufferPart{} : tile.read_parts[i];
        if (tile.reads[i] != BufferId::none) uses.push_back(reads(tile.reads[i], core, part));
      }
      for (std::size_t i = 0; i < made.size(); ++i) {
        uses.push_back(results[i].in_place ? overwrites(made[i], core, tile.written)
                                           : writes(made[i], core, tile.written));
      }
      if (kernel.source == no_storage) {
        writer_.add(spec, uses);
      } else {
        const TaskNeeds& written = place_.storages[kernel.source].ddr_writers;
        place_.ddr.is_read(kernel.source, writer_.add(spec, uses, written));
      }
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].streamed) continue;
      place_.transfers.store_result_tile(results[i].storage, made[i], tile.result_bytes[i],
                                         i == 0 ? tile.result_shapes : CoreShapes{});
      place_.residency.release(made[i]);
    }
  }

 private:
  std::vector<NodeResult> place_results(const Node& node, const VectorKernel& kernel,
                                        const Partition& partition, Layout layout,
                                        const std::vector<Operand>& operands) {
    std::vector<NodeResult> results;
    for (TensorId id : present(node.outputs)) {
      Partition own{context_.tensor(id).shape, partition.axis, partition.unit};
      if (own.shape.size() != partition.shape.size())
        own = {context_.tensor(id).shape, replicated, 1};
      NodeResult result = place_.operands.make_result(id, own, layout);
      if (kernel.in_place) result.buffer = take_input_buffer(operands, result);
      result.in_place = result.buffer != BufferId::none;
      if (!result.in_place) place_.operands.place_result(result);
      results.push_back(std::move(result));
    }
    return results;
  }

  // Takes over the buffer of an input that has its last use here; none when there is no such input.
  BufferId take_input_buffer(const std::vector<Operand>& operands, const NodeResult& result) {
    for (const Operand& operand : operands) {
      if (operand.storage == no_storage || operand.streamed) continue;
      const Storage& storage = place_.storages[operand.storage];
      const Storage& made = place_.storages[result.storage];
      const bool same_place =
          storage.bytes == made.bytes && storage.layout == made.layout &&
          context_.slices_of(storage.partition, storage.bytes) == result.core_bytes;
      if (storage.uses != 1 || storage.output_uses != 0 || !same_place) continue;
      return place_.residency.take_buffer(operand.storage);
    }
    return BufferId::none;
  }

  std::uint64_t find_tiles(std::vector<Operand>& operands, std::vector<NodeResult>& results) {
    const std::uint64_t finer = place_.tiles.find_cuts(
        [&](std::uint64_t times) {
          const std::uint64_t cuts = place_.tiles.usual_tiles(operands, results) * times;
          auto sizes = place_.tiles.streamed_sizes(operands, cuts);
          for (const NodeResult& result : results) {
            if (!result.streamed) continue;
            sizes.insert(sizes.end(), place_.tiles.tiles_at_once(result),
                         divide_up(largest(result.core_bytes), cuts));
          }
          return sizes;
        },
        operands, results);
    const std::uint64_t tiles = place_.tiles.usual_tiles(operands, results) * finer;
    writer_.check_tiles(tiles);
    return tiles;
  }

  // Tile by tile along the pieces in which the newest operand came about. False when there are
  // none, or when the kernel cannot be cut there.
  bool follow_pieces(const Node& node, const VectorKernel& kernel,
                     std::span<const Operand> operands, std::span<const BufferId> halos,
                     const std::vector<NodeResult>& results) {
    if (!context_.cuts_resident || results.size() != 1 || results[0].streamed) return false;
    const auto is_there = [](BufferId halo) { return halo != BufferId::none; };
    if (std::ranges::any_of(halos, is_there)) return false;
    const NodeResult& result = results[0];
    const auto pieces = newest_pieces(operands);
    if (pieces == nullptr) return false;
    // At least two: the first while the last comes about.
    constexpr std::uint64_t min_tile_bytes = 64 * 1024, min_tile_cycles = 2500, usual_tiles = 4;
    const std::uint64_t bytes = largest(result.core_bytes);
    const std::uint64_t worth =
        std::max(bytes / min_tile_bytes, kernel.work(bytes).cycles / min_tile_cycles);
    const std::uint64_t tiles =
        tiles_along(*pieces, std::max(writer_.tiles_for(bytes), std::min(worth, usual_tiles)));
    if (tiles < 2) return false;
    Storage& made = place_.storages[result.storage];
    std::shared_ptr<const Pieces> mine;
    if (cuts_elements(kernel, *pieces, result)) {
      mine = std::make_shared<const Pieces>(joined(*pieces, tiles));
    } else if (kernel.by_rows && pieces->bands && context_.images[std::uint32_t(node.outputs[0])] &&
               windows_fit(context_, node, tiles)) {
      mine = std::make_shared<const Pieces>(bands_of(result.core_bytes, tiles, made.type));
    } else {
      return false;
    }
    const bool reaches = window_rows(node) > 1;
    for (std::uint64_t index = 0; index < tiles; ++index) {
      VectorTile tile;
      tile.index = index;
      tile.tiles = tiles;
      tile.operands = operands;
      tile.result_bytes = {mine->core_bytes[index]};
      tile.result_shapes = piece_shapes(*mine, made.partition, mine->core_bytes[index], made.type);
      tile.written = {std::uint32_t(index), std::uint32_t(index) + 1, std::uint32_t(tiles)};
      for (const Operand& operand : operands) {
        tile.reads.push_back(operand.buffer);
        const auto here =
            operand.storage == no_storage ? nullptr : place_.storages[operand.storage].pieces;
        const bool same = here != nullptr && !operand.temporary && *here == *pieces;
        const bool band = here != nullptr && !operand.temporary && here->bands && mine->bands;
        tile.read_parts.push_back(band   ? strips_of(index, index + 1, tiles, reaches)
                                  : same ? tile.written
                                         : BufferPart{});
      }
      tile.read_bytes = place_.tiles.bytes_of_resident(operands, tiles);
      emit(kernel, tile, results);
    }
    made.pieces = mine;
    made.of_vectors = true;
    return true;
  }

  // The same along the strips of an image or a matrix of an HTP.
  bool follow_strips(const Node& node, const VectorKernel& kernel,
                     std::span<const Operand> operands, const std::vector<NodeResult>& results) {
    if (results.size() != 1 || results[0].streamed || !kernel.by_rows) return false;
    Strips strips;
    for (const Operand& operand : operands) {
      if (operand.storage == no_storage || operand.temporary) continue;
      const Strips& here = place_.storages[operand.storage].strips;
      if (here.count > 1) strips = here;
    }
    const StripCut cut(context_.target, strips, rows_of(node), results[0].core_bytes[0],
                       kernel.work);
    place_.storages[results[0].storage].strips = cut.made();
    if (!cut.follows()) return false;
    const bool reaches = classify(context_.graph, node) != OpClass::elementwise;
    for (std::uint64_t index = 0; index < cut.tasks(); ++index) {
      VectorTile tile;
      tile.index = index;
      tile.tiles = cut.tasks();
      tile.operands = operands;
      tile.work = cut.work(index);
      tile.result_bytes = {{cut.bytes(index)}};
      tile.written = cut.part(index);
      for (const Operand& operand : operands) {
        const bool in_strips = operand.storage != no_storage && !operand.temporary &&
                               place_.storages[operand.storage].strips.count > 1;
        tile.reads.push_back(operand.buffer);
        tile.read_parts.push_back(in_strips ? cut.part(index, reaches) : BufferPart{});
      }
      tile.read_bytes = place_.tiles.bytes_of_resident(operands, tile.tiles);
      emit(kernel, tile, results);
    }
    return true;
  }

  // Of an image; 0: it is none.
  std::uint64_t rows_of(const Node& node) const {
    const TensorId made = node.outputs[0];
    return context_.images[std::uint32_t(made)] ? std::uint64_t(context_.tensor(made).shape[2]) : 0;
  }

  std::shared_ptr<const Pieces> newest_pieces(std::span<const Operand> operands) const {
    const Operand* newest = nullptr;
    for (const Operand& operand : operands) {
      if (operand.storage == no_storage || operand.temporary) continue;
      if (place_.storages[operand.storage].pieces == nullptr) continue;
      if (newest == nullptr || operand.storage > newest->storage) newest = &operand;
    }
    return newest == nullptr ? nullptr : place_.storages[newest->storage].pieces;
  }

  // Whether pieces of the result are those of a tensor as large.
  static bool cuts_elements(const VectorKernel& kernel, const Pieces& pieces,
                            const NodeResult& result) {
    return kernel.row_elements > 0 && pieces.row_elements % kernel.row_elements == 0 &&
           sum_of(pieces) == result.core_bytes;
  }

  static CoreBytes sum_of(const Pieces& pieces) {
    CoreBytes sum(pieces.core_bytes[0].size(), 0);
    for (const CoreBytes& piece : pieces.core_bytes)
      for (std::size_t core = 0; core < sum.size(); ++core) sum[core] += piece[core];
    return sum;
  }

  TaskSpec describe(const VectorKernel& kernel, const VectorTile& tile,
                    const std::vector<NodeResult>& results, std::uint32_t core) {
    std::uint64_t all_bytes = 0, bytes = 0;
    for (const NodeResult& result : results) all_bytes += place_.storages[result.storage].bytes;
    for (const CoreBytes& of_result : tile.result_bytes) bytes += of_result[core];
    TaskSpec spec =
        writer_.vector_task(core, kernel.name, writer_.name_of_tile(tile.index, tile.tiles),
                            place_.storages[results[0].storage].type);
    spec.output_bytes = bytes;
    if (writer_.describes()) writer_.works_on(spec, operands_of_tile(kernel, tile, results, core));
    spec.types = writer_.node_types();
    spec.vtcm_read = tile.read_bytes;
    set_work(spec, tile.work.cycles > 0 ? tile.work : kernel.work(bytes));
    if (tile.written.count > 1) {
      spec.tile = std::uint32_t(tile.index);
      spec.tiles = std::uint32_t(tile.tiles);
    }
    if (kernel.hmx_macs > 0) {
      spec.group = qaic::ThreadGroup::hmx;
      spec.thread_imbalance = 0;
      spec.macs = std::uint64_t(double(kernel.hmx_macs) * double(bytes) / double(all_bytes));
    }
    if (kernel.ddr_reads + kernel.ddr_writes > 0) {
      spec.ddr_read = std::uint64_t(kernel.ddr_reads * double(bytes));
      spec.ddr_write = std::uint64_t(kernel.ddr_writes * double(bytes));
      spec.read_purpose = TrafficPurpose::spill;
    }
    if (kernel.reads_ddr) {
      spec.memory = writer_.intern("DDR");
      spec.ddr_read = bytes;
      spec.read_tensor = kernel.table;
      if (kernel.source != no_storage) {
        const TensorId table = place_.storages[kernel.source].made_as;
        spec.read_purpose = place_.storages.purpose_of_reading(kernel.source);
        spec.ddr_read = context_.ddr_bytes(table, bytes);
        if (const DataType packed = context_.packed_type(table); packed != DataType::undefined)
          spec.cycles +=
              vector_cycles(context_.target, std::string(unpacking_kernel(packed)), bytes);
      }
    }
    return spec;
  }

  std::vector<TaskOperand> operands_of_tile(const VectorKernel& kernel, const VectorTile& tile,
                                            const std::vector<NodeResult>& results,
                                            std::uint32_t core) const {
    std::vector<TaskOperand> operands;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Storage& storage = place_.storages[results[i].storage];
      const bool given = i == 0 && !tile.result_shapes.empty();
      operands.push_back(writer_.operand(
          TaskOperand::Use::out, TaskOperand::Memory::vtcm, storage.views[0],
          given ? tile.result_shapes[core] : context_.slice_of(storage.partition, core),
          tile.result_bytes[i][core]));
    }
    if (kernel.reads_ddr) {
      operands.push_back(writer_.operand(TaskOperand::Use::in, TaskOperand::Memory::ddr,
                                         kernel.table, context_.tensor(kernel.table).shape,
                                         context_.bytes_of(kernel.table)));
    }
    for (const Operand& read : tile.operands) {
      if (kernel.reads_ddr && read.tensor == kernel.table) continue;
      if (read.splat()) {
        operands.push_back(writer_.known_scalar(read.tensor));
        continue;
      }
      const std::uint64_t bytes = bytes_read(read, tile, core, results[0]);
      TaskOperand& told = operands.emplace_back(place_.operands.read_of(read, core, bytes));
      const bool as_result = !tile.result_shapes.empty() && bytes == tile.result_bytes[0][core] &&
                             told.shape.size() == tile.result_shapes[core].size();
      if (as_result) told.shape = tile.result_shapes[core];
    }
    return operands;
  }

  // What the tile reads of an operand: of one that is streamed or as large as the result a tile,
  // of others all that the core has.
  std::uint64_t bytes_read(const Operand& operand, const VectorTile& tile, std::uint32_t core,
                           const NodeResult& result) const {
    const std::uint64_t all = operand.core_bytes[core];
    if (!operand.streamed && all == result.core_bytes[core]) return tile.result_bytes[0][core];
    if (!operand.streamed) return all;
    return even_bytes(all, tile.streamed, tile.streamed_tiles, context_.type_of(operand.tensor));
  }
};

// Axes, pads, indices of shape arithmetic: known to the kernel, not data it reads.
bool is_parameter(const Tensor& tensor) {
  return tensor.constant && tensor.values.has_value() && tensor.elements() <= 64;
}

bool keeps_layout(OpClass op_class) {
  return op_class == OpClass::elementwise || op_class == OpClass::softmax ||
         op_class == OpClass::normalization || op_class == OpClass::pooling ||
         op_class == OpClass::convolution || op_class == OpClass::reduction;
}

// A Concat of more takes one after the other: were all in VTCM at once, each would look for its
// place among all others.
constexpr std::size_t max_parts_at_once = 64;

// VectorKernel::row_elements
std::uint64_t elements_at_once(const Graph& graph, const Node& node, OpClass op_class) {
  if (op_class == OpClass::elementwise) return 1;
  const bool of_rows = op_class == OpClass::softmax || node.op.ends_with("LayerNormalization") ||
                       node.op == "RMSNormalization";
  if (!of_rows || node.outputs.size() != 1) return 0;
  const Shape& shape = graph[node.outputs[0]].shape;
  const std::int64_t axis = node.int_attribute("axis", -1);
  const bool last = axis == -1 || axis == std::int64_t(shape.size()) - 1;
  return last && !shape.empty() ? std::uint64_t(shape.back()) : 0;
}

}  // namespace

std::uint64_t window_rows(const Node& node) {
  const auto kernel = node.ints_attribute("kernel_shape");
  const auto dilations = node.ints_attribute("dilations");
  if (kernel.empty()) return node.op == "Resize" ? 2 : 1;
  return std::uint64_t((kernel[0] - 1) * (dilations.empty() ? 1 : dilations[0]) + 1);
}

bool windows_fit(const CompileContext& context, const Node& node, std::uint64_t bands) {
  const Shape& shape = context.tensor(node.inputs[0]).shape;
  return shape.size() > 2 && std::uint64_t(shape[2]) / bands >= window_rows(node);
}

bool goes_by_rows(const CompileContext& context, const Node& node, OpClass op_class) {
  if (!context.moves_tiles || !node.has_input(0)) return false;
  const bool image = context.images[std::uint32_t(node.outputs[0])];
  // Integers are put in the host's order when all of them are there.
  const bool integer = bits_of(context.type_of(node.outputs[0])) <= 8;
  if (integer && node.op.ends_with("ToChannelsFirst")) return false;
  if (op_class == OpClass::elementwise || (op_class == OpClass::convolution && image)) return true;
  if (!image) return op_class == OpClass::softmax || op_class == OpClass::normalization;
  const Shape& made = context.tensor(node.outputs[0]).shape;
  return made[2] > 1 && (op_class == OpClass::pooling || moves_whole_tiles(context, node));
}

std::vector<Operand> VectorLowering::prepare_inputs(const Node& node, OpClass op_class,
                                                    const Partition& output, Layout layout) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == TensorId::none || is_parameter(context_.tensor(id))) continue;
    const Partition needed = partition_of_input(context_.graph, node, op_class, i, output);
    const StorageId storage = place_.storages.of(id);
    const bool broadcast =
        context_.tensor(id).elements() != context_.tensor(node.outputs[0]).elements();
    const bool own_layout = storage != no_storage && keeps_layout(op_class) && broadcast && i > 0;
    operands.push_back(
        place_.operands.prepare(id, needed, own_layout ? place_.storages[storage].layout : layout));
  }
  return operands;
}

// What sorts the places of an image before a convolution does so in tiles: those of a flat one are
// converted first, band by band.
bool VectorLowering::sorts_places(const Node& node) const {
  return context_.cuts_resident && context_.moves_tiles &&
         (node.op.starts_with("SpaceToDepth") || node.op == "Decimate") &&
         node.op != "SpaceToDepth" && context_.images[std::uint32_t(node.outputs[0])];
}

void VectorLowering::lower(const Node& node, OpClass op_class, const VectorKernel& kernel) {
  if (op_class == OpClass::reduction && lower_split_reduction(node, kernel.name)) return;
  if (node.op == "Concat" && node.inputs.size() > max_parts_at_once) {
    return lower_concat_by_parts(node, op_class, kernel);
  }
  const Partition partition = choose_partition(context_, place_.storages, node, op_class);
  VectorKernel placed = kernel;
  placed.in_place = op_class == OpClass::elementwise || op_class == OpClass::scatter;
  placed.row_elements = elements_at_once(context_.graph, node, op_class);
  placed.by_rows = goes_by_rows(context_, node, op_class);
  Layout layout = Layout::flat;
  const StorageId first = place_.storages.of(node.inputs.empty() ? TensorId::none : node.inputs[0]);
  const bool rows = context_.target.vector_tile_bytes > 0 && op_class == OpClass::elementwise &&
                    (node.op == "Relu" || node.op == "Clip") &&
                    context_.tensor(node.outputs[0]).shape.size() < 4 &&
                    bits_of(context_.type_of(node.outputs[0])) == 16;
  const bool keeps = (keeps_layout(op_class) && !rows) || moves_whole_tiles(context_, node);
  if (keeps && first != no_storage) layout = place_.storages[first].layout;
  if (layout == Layout::weights_d32) layout = Layout::flat;
  if (sorts_places(node)) layout = Layout::d32;
  auto operands = prepare_inputs(node, op_class, partition, layout);
  std::vector<BufferId> halos;
  for (Operand& operand : operands)
    halos.push_back(exchange_halo(context_, writer_, place_, node, operand, partition));
  VectorTiles(context_, writer_, place_).run(node, placed, partition, layout, operands, halos);
  for (Operand& operand : operands) place_.operands.finish(operand);
  for (BufferId halo : halos) place_.residency.release(halo);
  for (TensorId id : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
    // Parameters that are computed, not constant, were not prepared but are used up all the same.
    if (id != TensorId::none && is_parameter(context_.tensor(id))) place_.residency.use_done(id);
  }
}

void VectorLowering::lower_concat_by_parts(const Node& node, OpClass op_class,
                                           const VectorKernel& kernel) {
  const Partition partition = choose_partition(context_, place_.storages, node, op_class);
  NodeResult result = place_.operands.make_result(node.outputs[0], partition, Layout::flat);
  place_.operands.place_result(result);
  const std::vector<NodeResult> results{result};
  std::map<TensorId, std::size_t> left;  // a part may be there several times
  for (TensorId id : node.inputs) ++left[id];
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == TensorId::none) continue;
    place_.residency.pin_only({result.storage});
    Operand operand = place_.operands.prepare(
        id, partition_of_input(context_.graph, node, op_class, i, partition), Layout::flat);
    copy_part(kernel, operand, i, node.inputs.size(), results);
    if (operand.temporary) place_.residency.release(operand.buffer);
    if (--left[id] == 0) place_.residency.use_done(id);
  }
  place_.operands.keep_result(result);
}

void VectorLowering::copy_part(const VectorKernel& kernel, const Operand& operand,
                               std::size_t index, std::size_t parts,
                               const std::vector<NodeResult>& results) {
  const std::uint64_t max_bytes = *std::ranges::max_element(operand.core_bytes);
  const bool moves = operand.streamed || results[0].streamed;
  const std::uint64_t tiles = moves ? writer_.tiles_for(max_bytes) : 1;
  for (std::uint64_t at = 0; at < tiles; ++at) {
    VectorTile tile;
    tile.index = index;
    tile.tiles = parts;
    const BufferId own =
        operand.streamed ? place_.transfers.load_tile(operand, at, tiles) : BufferId::none;
    tile.reads = {operand.streamed ? own : operand.buffer};
    const CoreBytes& bytes = tile.result_bytes.emplace_back(
        even_bytes(operand.core_bytes, at, tiles, context_.type_of(operand.tensor)));
    tile.streamed = at;
    tile.streamed_tiles = tiles;
    tile.operands = std::span(&operand, 1);
    tile.result_shapes = place_.operands.shapes_of(operand, bytes);
    tile.read_bytes = *std::ranges::max_element(bytes);
    VectorTiles(context_, writer_, place_).emit(kernel, tile, results);
    place_.residency.release(own);
  }
}

// Gather and scatter: data found by indices, often in DDR (embedding tables, KV caches).

void VectorLowering::lower_gather(const Node& node) {
  if (!node.has_input(0)) {
    return lower(node, OpClass::gather, kernel_named(context_, node, "aicgather"));
  }
  const TensorId data = node.inputs[0];
  const TensorId output = node.outputs[0];
  const StorageId source = place_.storages.of(data);
  const int rank = int(context_.tensor(data).shape.size());
  int axis = int(node.int_attribute("axis", 0));
  if (axis < 0) axis += rank;
  Partition partition{context_.tensor(output).shape, replicated, 1};
  Operand values;
  bool from_ddr = context_.tensor(data).constant;
  if (!from_ddr) {
    // A split that the gather does not index along is kept.
    Partition needed{context_.tensor(data).shape, replicated, 1};
    const Partition held = place_.storages.held_as(source, data);
    const int shift = int(context_.tensor(output).shape.size()) - rank;
    const bool resident = place_.storages[source].buffer != BufferId::none;
    if (resident && node.op == "Gather" && held.axis >= 0 && held.axis != axis) {
      const int output_axis = held.axis < axis ? held.axis : held.axis + shift;
      if (output_axis >= 0 && output_axis < int(partition.shape.size())) {
        needed = held;
        partition.axis = output_axis;
        partition.unit = held.unit;
      }
    }
    values = place_.operands.prepare(data, needed, Layout::flat);
    from_ddr = values.streamed;
  }
  const bool free_choice = partition.axis < 0 && context_.bytes_of(output) > 64 * 1024;
  for (int i = 0; free_choice && i < int(partition.shape.size()); ++i) {
    const std::int64_t extent = partition.shape[std::size_t(i)];
    if (extent >= std::int64_t(context_.cores)) {
      partition.axis = i;
      break;
    }
  }
  std::vector<Operand> operands;
  VectorKernel kernel = kernel_named(context_, node, "aicgather");
  kernel.reads_ddr = from_ddr;
  kernel.table = data;
  if (context_.tensor(data).constant) {
    place_.constants.count(data, context_.bytes_of(data), context_.bytes_of(data));
  } else {
    if (from_ddr) kernel.source = source;
    values.streamed = false;  // then read in place, element by element
    operands.push_back(values);
  }
  if (node.has_input(1) && !context_.tensor(node.inputs[1]).constant) {
    operands.push_back(place_.operands.prepare(
        node.inputs[1], {context_.tensor(node.inputs[1]).shape, replicated, 1}, Layout::flat));
  }
  VectorTiles(context_, writer_, place_).run(node, kernel, partition, Layout::flat, operands, {});
  for (Operand& operand : operands) place_.operands.finish(operand);
}

// All of the data comes out again, as the vendor's compiler does it too (the log of Amber's prefill
// writes a whole KV cache for 32 tokens of 128). Within VTCM only the updates are work.
void VectorLowering::lower_scatter(const Node& node) {
  VectorKernel kernel = kernel_named(context_, node, "aicscatternd");
  const std::size_t which = updates_input(node);
  const TensorId updates = node.has_input(which) ? node.inputs[which] : TensorId::none;
  if (updates != TensorId::none && node.has_input(0)) {
    const double share =
        std::min(1.0, double(context_.bytes_of(updates)) /
                          double(std::max<std::uint64_t>(context_.bytes_of(node.inputs[0]), 1)));
    kernel.work = [share, whole = kernel.work](std::uint64_t bytes) {
      return whole(std::uint64_t(double(bytes) * share));
    };
  }
  lower(node, OpClass::scatter, kernel);
}

}  // namespace npuscope::npu::nsp
