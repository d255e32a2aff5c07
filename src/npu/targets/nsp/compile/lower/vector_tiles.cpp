#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

void VectorTiles::run(const Node& node, const VectorKernel& kernel, const Partition& partition,
                      Layout layout, std::vector<Operand>& operands,
                      const std::vector<BufferId>& halos) {
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

void VectorTiles::emit(const VectorKernel& kernel, const VectorTile& tile,
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

std::vector<NodeResult> VectorTiles::place_results(const Node& node, const VectorKernel& kernel,
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

}  // namespace npuscope::npu::nsp
