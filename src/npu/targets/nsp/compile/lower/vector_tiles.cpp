#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

void VectorTiles::run(const Node& node, const VectorKernel& kernel, const Partition& partition,
                      Layout layout, std::vector<Operand>& operands,
                      const std::vector<BufferId>& halos) {
  auto results = place_results(node, kernel, partition, layout, operands);
  const std::uint64_t tiles = find_tiles(operands, results);
  const bool cut = tiles == 1 && follow_pieces(kernel, operands, halos, results);
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

std::uint64_t VectorTiles::find_tiles(std::vector<Operand>& operands,
                                      std::vector<NodeResult>& results) {
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

std::vector<NodeResult> VectorTiles::place_results(const Node& node, const VectorKernel& kernel,
                                                   const Partition& partition, Layout layout,
                                                   const std::vector<Operand>& operands) {
  std::vector<NodeResult> results;
  for (TensorId id : node.outputs) {
    if (id == TensorId::none) continue;
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

BufferId VectorTiles::take_input_buffer(const std::vector<Operand>& operands,
                                        const NodeResult& result) {
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

std::uint64_t VectorTiles::bytes_read(const Operand& operand, const VectorTile& tile,
                                      std::uint32_t core, const NodeResult& result) const {
  const std::uint64_t all = operand.core_bytes[core];
  if (!operand.streamed && all == result.core_bytes[core]) return tile.result_bytes[0][core];
  if (!operand.streamed) return all;
  return even_bytes(all, tile.streamed, tile.streamed_tiles, context_.type_of(operand.tensor));
}

std::vector<TaskOperand> VectorTiles::operands_of_tile(const VectorKernel& kernel,
                                                       const VectorTile& tile,
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
    operands.push_back(writer_.operand(TaskOperand::Use::in, TaskOperand::Memory::ddr, kernel.table,
                                       context_.tensor(kernel.table).shape,
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

TaskSpec VectorTiles::describe(const VectorKernel& kernel, const VectorTile& tile,
                               const std::vector<NodeResult>& results, std::uint32_t core) {
  std::uint64_t all_bytes = 0, bytes = 0;
  for (const NodeResult& result : results) all_bytes += place_.storages[result.storage].bytes;
  for (const CoreBytes& of_result : tile.result_bytes) bytes += of_result[core];
  TaskSpec spec =
      writer_.vector_task(core, kernel.name, writer_.name_of_tile(tile.index, tile.tiles),
                          place_.storages[results[0].storage].type);
  spec.output_bytes = bytes;
  writer_.works_on(spec, operands_of_tile(kernel, tile, results, core));
  spec.types = writer_.node_types();
  spec.vtcm_read = tile.read_bytes;
  spec.cycles = kernel.cycles(bytes);
  if (tile.written.count > 1) {
    spec.tile = std::uint32_t(tile.index);
    spec.tiles = std::uint32_t(tile.tiles);
  }
  if (kernel.hmx_macs > 0) {
    spec.group = qaic::ThreadGroup::hmx;
    spec.thread_imbalance = 0;
    spec.macs = std::uint64_t(double(kernel.hmx_macs) * double(bytes) / double(all_bytes));
  }
  if (kernel.reads_ddr) {
    spec.memory = writer_.intern("DDR");
    spec.ddr_read = bytes;
    spec.read_tensor = kernel.table;
    if (kernel.source != no_storage) {
      spec.read_purpose = place_.storages.purpose_of_reading(kernel.source);
    }
  }
  return spec;
}

void VectorTiles::emit(const VectorKernel& kernel, const VectorTile& tile,
                       const std::vector<NodeResult>& results) {
  std::vector<BufferId> made;
  for (std::size_t i = 0; i < results.size(); ++i) {
    made.push_back(place_.transfers.place_tile(results[i], tile.result_bytes[i]));
  }
  const auto is_idle = [&](std::uint32_t core) {
    return std::all_of(tile.result_bytes.begin(), tile.result_bytes.end(),
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

std::shared_ptr<const Pieces> VectorTiles::pieces_to_follow(const VectorKernel& kernel,
                                                            std::span<const Operand> operands,
                                                            const NodeResult& result) const {
  const Operand* newest = nullptr;
  for (const Operand& operand : operands) {
    if (operand.storage == no_storage || operand.temporary) continue;
    if (place_.storages[operand.storage].pieces == nullptr) continue;
    if (newest == nullptr || operand.storage > newest->storage) newest = &operand;
  }
  if (newest == nullptr) return nullptr;
  const std::shared_ptr<const Pieces>& pieces = place_.storages[newest->storage].pieces;
  const bool cuts_there = kernel.row_elements > 0 &&
                          pieces->row_elements % kernel.row_elements == 0 &&
                          newest->core_bytes == result.core_bytes;
  return cuts_there ? pieces : nullptr;
}

bool VectorTiles::follow_pieces(const VectorKernel& kernel, std::span<const Operand> operands,
                                std::span<const BufferId> halos,
                                const std::vector<NodeResult>& results) {
  if (!context_.cuts_resident || results.size() != 1 || results[0].streamed) return false;
  const auto is_there = [](BufferId halo) { return halo != BufferId::none; };
  if (std::any_of(halos.begin(), halos.end(), is_there)) return false;
  const NodeResult& result = results[0];
  const auto pieces = pieces_to_follow(kernel, operands, result);
  if (pieces == nullptr) return false;
  const std::uint64_t tiles = tiles_along(*pieces, writer_.tiles_for(largest(result.core_bytes)));
  if (tiles < 2) return false;
  Storage& made = place_.storages[result.storage];
  const auto mine = std::make_shared<const Pieces>(joined(*pieces, tiles));
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
      tile.read_parts.push_back(same ? tile.written : BufferPart{});
    }
    tile.read_bytes = place_.tiles.bytes_of_resident(operands, tiles);
    emit(kernel, tile, results);
  }
  made.pieces = mine;
  return true;
}

}  // namespace npuscope::npu::nsp
