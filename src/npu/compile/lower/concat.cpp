// A Concat of very many parts: each is copied to its place in the result, one after the other.
#include <algorithm>
#include <map>

#include "npu/compile/lower/vector_lowering.hpp"

namespace npuscope::npu {

void VectorLowering::lower_concat_by_parts(const Node& node, OpClass op_class,
                                           const VectorKernel& kernel) {
  const Partition partition = choose_partition(node, op_class);
  NodeResult result;
  result.storage = make_storage(node.outputs[0], partition, Layout::flat);
  result.core_bytes = slice_bytes(partition, storages_[result.storage].bytes, cores_);
  place_result(result, fits(result.core_bytes));
  const std::vector<NodeResult> results{result};
  std::map<TensorId, std::size_t> left;  // a part may be there several times
  for (TensorId id : node.inputs) ++left[id];
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == TensorId::none) continue;
    pinned_ = {result.storage};
    Operand operand = prepare(id, partition_of_input(node, op_class, i, partition), Layout::flat);
    copy_part(kernel, operand, i, node.inputs.size(), results);
    if (operand.temporary) release(operand.buffer);
    if (--left[id] == 0) use_done(id);
  }
  keep_result(result);
}

Residency::CoreShapes VectorLowering::part_shapes(const Operand& operand,
                                                  const CoreBytes& core_bytes) const {
  CoreShapes shapes;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const TaskOperand part = read_of(operand, core, core_bytes[core]);
    shapes.push_back(part.shape);
  }
  return shapes;
}

void VectorLowering::copy_part(const VectorKernel& kernel, const Operand& operand,
                               std::size_t index, std::size_t parts,
                               const std::vector<NodeResult>& results) {
  const std::uint64_t max = *std::max_element(operand.core_bytes.begin(), operand.core_bytes.end());
  const bool moves = operand.streamed || results[0].streamed;
  const std::uint64_t tiles = moves ? tiles_for(max) : 1;
  for (std::uint64_t at = 0; at < tiles; ++at) {
    VectorTile tile;
    tile.index = index;
    tile.tiles = parts;
    const BufferId own = operand.streamed ? load_tile(operand, at, tiles) : BufferId::none;
    tile.reads = {operand.streamed ? own : operand.buffer};
    CoreBytes& bytes = tile.result_bytes.emplace_back(cores_);
    for (std::uint32_t core = 0; core < cores_; ++core) {
      const std::uint64_t all = operand.core_bytes[core];
      bytes[core] = even_bytes(all, at, tiles, type_of(operand.tensor));
    }
    tile.streamed = at;
    tile.streamed_tiles = tiles;
    tile.operands = std::span(&operand, 1);
    tile.result_shapes = part_shapes(operand, bytes);
    tile.read_bytes = *std::max_element(bytes.begin(), bytes.end());
    emit_vector_tile(kernel, tile, results);
    release(own);
  }
}

}  // namespace npuscope::npu
