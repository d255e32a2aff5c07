// Gather and scatter: data found by indices, often in DDR (embedding tables, KV caches).
#include <algorithm>

#include "npu/compile/lower/vector_lowering.hpp"

namespace npuscope::npu {

void VectorLowering::lower_gather(const Node& node) {
  if (!has_input(node, 0)) {
    return lower_vector(node, OpClass::gather, kernel_named("aicgather"));
  }
  const TensorId data = node.inputs[0];
  const TensorId output = node.outputs[0];
  const StorageId source = storage_of(data);
  const int rank = int(tensor(data).shape.size());
  int axis = int(node.int_attribute("axis", 0));
  if (axis < 0) axis += rank;
  Partition partition{tensor(output).shape, replicated, 1};
  Operand values;
  bool from_ddr = tensor(data).constant;
  if (!from_ddr) {
    // A split that the gather does not index along is kept.
    Partition needed{tensor(data).shape, replicated, 1};
    const Partition held = partition_in_view(storages_[source].partition, tensor(data).shape);
    const int shift = int(tensor(output).shape.size()) - rank;
    const bool resident = storages_[source].buffer != BufferId::none;
    if (resident && node.op == "Gather" && held.axis >= 0 && held.axis != axis) {
      const int output_axis = held.axis < axis ? held.axis : held.axis + shift;
      if (output_axis >= 0 && output_axis < int(partition.shape.size())) {
        needed = held;
        partition.axis = output_axis;
        partition.unit = held.unit;
      }
    }
    values = prepare(data, needed, Layout::flat);
    from_ddr = values.streamed;
  }
  const bool free_choice = partition.axis < 0 && bytes_of(output) > 64 * 1024;
  for (int i = 0; free_choice && i < int(partition.shape.size()); ++i) {
    const std::int64_t extent = partition.shape[std::size_t(i)];
    if (extent >= std::int64_t(cores_)) {
      partition.axis = i;
      break;
    }
  }
  std::vector<Operand> operands;
  VectorKernel kernel = kernel_named("aicgather");
  kernel.reads_ddr = from_ddr;
  kernel.table = data;
  if (tensor(data).constant) {
    count_constant(data, bytes_of(data), bytes_of(data));
  } else {
    if (from_ddr) kernel.source = source;
    values.streamed = false;  // then read in place, element by element
    operands.push_back(values);
  }
  if (has_input(node, 1) && !tensor(node.inputs[1]).constant) {
    operands.push_back(
        prepare(node.inputs[1], {tensor(node.inputs[1]).shape, replicated, 1}, Layout::flat));
  }
  run_vector_tiles(node, kernel, partition, Layout::flat, operands, {});
  for (Operand& operand : operands) finish(operand);
}

// All of the data comes out again, as the vendor's compiler does it too (the log of Amber's prefill
// writes a whole KV cache for 32 tokens of 128). Within VTCM only the updates are work.
void VectorLowering::lower_scatter(const Node& node) {
  VectorKernel kernel = kernel_named("aicscatternd");
  const TensorId updates = has_input(node, 2) ? node.inputs[2] : TensorId::none;
  if (updates != TensorId::none && has_input(node, 0)) {
    const double share =
        std::min(1.0, double(bytes_of(updates)) /
                          double(std::max<std::uint64_t>(bytes_of(node.inputs[0]), 1)));
    kernel.cycles = [this, share, name = kernel.name](std::uint64_t bytes) {
      return vector_cycles(target_, name, std::uint64_t(double(bytes) * share));
    };
  }
  lower_vector(node, OpClass::scatter, kernel);
}

}  // namespace npuscope::npu
