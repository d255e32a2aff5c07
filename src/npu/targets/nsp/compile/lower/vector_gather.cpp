// Data found by indices, often in DDR (embedding tables, KV caches).
#include <algorithm>

#include "npu/targets/nsp/compile/lower/vector_tiles.hpp"

namespace npuscope::npu::nsp {

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
