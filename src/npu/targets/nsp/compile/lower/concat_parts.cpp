#include <algorithm>
#include <map>

#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"

namespace npuscope::npu::nsp {

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

}  // namespace npuscope::npu::nsp
