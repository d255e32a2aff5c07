// Reductions over the very axis that the cores share.
#include <algorithm>

#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

namespace npuscope::npu::nsp {

bool VectorLowering::reduces_split_axis(const Node& node) const {
  const StorageId source = place_.storages.of(node.inputs[0]);
  if (source == no_storage || place_.storages[source].buffer == BufferId::none ||
      context_.cores == 1) {
    return false;
  }
  const Partition held = place_.storages.held_as(source, node.inputs[0]);
  const TensorId output = node.outputs[0];
  if (held.axis < 0 || context_.bytes_of(output) > repeat_bytes || node.outputs.size() != 1) {
    return false;
  }
  for (int axis = 0; axis < int(context_.tensor(output).shape.size()); ++axis) {
    if (input_axis(context_.graph, node, OpClass::reduction, 0, axis) == held.axis) return false;
  }
  return true;
}

bool VectorLowering::lower_split_reduction(const Node& node, const std::string& kernel) {
  if (!reduces_split_axis(node)) return false;
  const StorageId source = place_.storages.of(node.inputs[0]);
  const TensorId output = node.outputs[0];
  const Shape& shape = context_.tensor(output).shape;
  const Operand operand =
      place_.operands.prepare(node.inputs[0], place_.storages.held_as(source, node.inputs[0]),
                              place_.storages[source].layout);
  const std::uint64_t bytes = context_.bytes_of(output);
  const CoreBytes one(context_.cores, bytes);
  const BufferId partial = place_.residency.allocate(one, Lifetime::tile);
  const BufferId gathered =
      place_.residency.allocate(CoreBytes(context_.cores, bytes * context_.cores), Lifetime::tile);
  NodeResult result = place_.operands.make_result(output, {shape, replicated, 1}, Layout::flat);
  result.buffer = place_.residency.allocate(one, Lifetime::tensor);
  Shape all_partial = shape;
  all_partial.insert(all_partial.begin(), std::int64_t(context_.cores));
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (operand.core_bytes[core] == 0) continue;
    TaskSpec spec =
        writer_.vector_task(core, kernel, writer_.node_name(), context_.type_of(output));
    spec.output_bytes = bytes;
    writer_.works_on(spec, {writer_.in_vtcm(TaskOperand::Use::out, output, shape, bytes),
                            place_.operands.read_of(operand, core, operand.core_bytes[core])});
    // The kernel reads its whole slice, so that is what it costs by.
    spec.cycles = vector_cycles(context_.target, kernel, operand.core_bytes[core]);
    writer_.add_compute(spec, std::span(&operand.buffer, 1), partial);
    TaskSpec send =
        writer_.dma_task(core, multicast_vtcm, writer_.node_name(), output, shape, bytes);
    send.multicast = bytes;
    std::vector<BufferUse> uses = writer_.written_everywhere(gathered);
    uses.push_back(reads(partial, core));
    writer_.add(send, uses);
  }
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    TaskSpec spec =
        writer_.vector_task(core, "elementadd", writer_.node_name(), context_.type_of(output));
    spec.output_bytes = bytes;
    writer_.works_on(
        spec, {writer_.in_vtcm(TaskOperand::Use::out, output, shape, bytes),
               writer_.in_vtcm(TaskOperand::Use::in, output, all_partial, bytes * context_.cores)});
    spec.cycles = vector_cycles(context_.target, "elementadd", bytes * context_.cores);
    writer_.add_compute(spec, std::span(&gathered, 1), result.buffer);
  }
  place_.residency.release(partial);
  place_.residency.release(gathered);
  place_.operands.keep_result(result);
  place_.residency.use_done(node.inputs[0]);
  return true;
}

}  // namespace npuscope::npu::nsp
