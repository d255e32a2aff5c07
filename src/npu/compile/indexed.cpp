// Gather and scatter: data found by indices, often in DDR (embedding tables, KV caches).
#include <algorithm>

#include "npu/compile/vector_lowering.hpp"

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
  kernel.reads_constant = tensor(data).constant;
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

// Into a tensor in DDR (a KV cache): only the updates are written, in place.
void VectorLowering::lower_scatter(const Node& node) {
  const TensorId data = node.inputs.empty() ? TensorId::none : node.inputs[0];
  const StorageId source = storage_of(data);
  const bool in_place = source != no_storage && storages_[source].buffer == BufferId::none;
  if (!in_place || !has_input(node, 2)) {
    return lower_vector(node, OpClass::scatter, kernel_named("aicscatternd"));
  }
  const TensorId updates = node.inputs[2];
  Partition needed{tensor(updates).shape, replicated, 1};
  if (storage_of(updates) != no_storage) {
    const Partition held =
        partition_in_view(storages_[storage_of(updates)].partition, tensor(updates).shape);
    if (held.axis >= 0) needed = held;
  }
  Operand operand = prepare(updates, needed, Layout::flat);
  std::vector<TaskIndex> written;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (operand.core_bytes[core] == 0 || (needed.axis < 0 && core > 0)) continue;
    TaskSpec spec = vector_task("aicscatternd", node_name_, storages_[source].type);
    spec.memory = strings_.intern("DDR");
    spec.core = core;
    spec.ddr_write = spec.output_bytes = operand.core_bytes[core];
    spec.cycles = vector_cycles(target_, "aicscatternd", operand.core_bytes[core]);
    TaskNeeds needs = storages_[source].ddr_writers;
    if (operand.buffer != BufferId::none) tasks_.need_to_read(operand.buffer, core, needs);
    if (operand.streamed) {  // from DDR to DDR
      spec.ddr_read = operand.core_bytes[core];
      spec.reads_constant = operand.storage == no_storage;
    }
    const bool copies = operand.streamed && !spec.reads_constant;
    if (copies) {
      const TaskNeeds& writers = storages_[operand.storage].ddr_writers;
      needs.insert(needs.end(), writers.begin(), writers.end());
    }
    const TaskIndex task = add(spec, std::move(needs));
    if (copies) reads_ddr(task, operand.storage);
    if (operand.buffer != BufferId::none) tasks_.reads(task, operand.buffer, core);
    written.push_back(task);
  }
  for (TaskIndex task : written) writes_ddr(task, source);
  const TensorId output = node.outputs[0];
  add_view(source, output);
  finish(operand);
  use_done(data);
  if (storage_of(node.inputs[1]) != no_storage) use_done(node.inputs[1]);
}

}  // namespace npuscope::npu
