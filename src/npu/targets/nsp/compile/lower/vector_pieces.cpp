// Tiles on HVX that follow the pieces and strips in which their operands came about.
#include <algorithm>

#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"

namespace npuscope::npu::nsp {

bool VectorTiles::follow_pieces(const Node& node, const VectorKernel& kernel,
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

bool VectorTiles::follow_strips(const Node& node, const VectorKernel& kernel,
                                std::span<const Operand> operands,
                                const std::vector<NodeResult>& results) {
  if (results.size() != 1 || results[0].streamed || !kernel.by_rows) return false;
  Strips strips;
  for (const Operand& operand : operands) {
    if (operand.storage == no_storage || operand.temporary) continue;
    const Strips& here = place_.storages[operand.storage].strips;
    if (here.count > 1) strips = here;
  }
  const StripCut cut(context_.target, strips, rows_of(node), results[0].core_bytes[0], kernel.work);
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

std::uint64_t VectorTiles::rows_of(const Node& node) const {
  const TensorId made = node.outputs[0];
  return context_.images[std::uint32_t(made)] ? std::uint64_t(context_.tensor(made).shape[2]) : 0;
}

std::shared_ptr<const Pieces> VectorTiles::newest_pieces(std::span<const Operand> operands) const {
  const Operand* newest = nullptr;
  for (const Operand& operand : operands) {
    if (operand.storage == no_storage || operand.temporary) continue;
    if (place_.storages[operand.storage].pieces == nullptr) continue;
    if (newest == nullptr || operand.storage > newest->storage) newest = &operand;
  }
  return newest == nullptr ? nullptr : place_.storages[newest->storage].pieces;
}

bool VectorTiles::cuts_elements(const VectorKernel& kernel, const Pieces& pieces,
                                const NodeResult& result) {
  return kernel.row_elements > 0 && pieces.row_elements % kernel.row_elements == 0 &&
         sum_of(pieces) == result.core_bytes;
}

CoreBytes VectorTiles::sum_of(const Pieces& pieces) {
  CoreBytes sum(pieces.core_bytes[0].size(), 0);
  for (const CoreBytes& piece : pieces.core_bytes)
    for (std::size_t core = 0; core < sum.size(); ++core) sum[core] += piece[core];
  return sum;
}

}  // namespace npuscope::npu::nsp
