// What a tile on HVX says of itself.
#include <algorithm>

#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"

namespace npuscope::npu::nsp {

TaskSpec VectorTiles::describe(const VectorKernel& kernel, const VectorTile& tile,
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
        spec.cycles += vector_cycles(context_.target, std::string(unpacking_kernel(packed)), bytes);
    }
  }
  return spec;
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

std::uint64_t VectorTiles::bytes_read(const Operand& operand, const VectorTile& tile,
                                      std::uint32_t core, const NodeResult& result) const {
  const std::uint64_t all = operand.core_bytes[core];
  if (!operand.streamed && all == result.core_bytes[core]) return tile.result_bytes[0][core];
  if (!operand.streamed) return all;
  return even_bytes(all, tile.streamed, tile.streamed_tiles, context_.type_of(operand.tensor));
}

}  // namespace npuscope::npu::nsp
