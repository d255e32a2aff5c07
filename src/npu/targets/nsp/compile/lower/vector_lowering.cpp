#include "npu/targets/nsp/compile/lower/vector_lowering.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "npu/targets/nsp/compile/lower/partition.hpp"

namespace npuscope::npu::nsp {
namespace {

// Axes, pads, indices of shape arithmetic: known to the kernel, not data it reads.
bool is_parameter(const Tensor& tensor) {
  return tensor.constant && tensor.values.has_value() && tensor.elements() <= 64;
}

bool keeps_layout(OpClass op_class) {
  return op_class == OpClass::elementwise || op_class == OpClass::softmax ||
         op_class == OpClass::normalization || op_class == OpClass::pooling ||
         op_class == OpClass::convolution || op_class == OpClass::reduction;
}

// A Concat of more takes one after the other: were all in VTCM at once, each would look for its
// place among all others.
constexpr std::size_t max_parts_at_once = 64;

// VectorKernel::row_elements
std::uint64_t elements_at_once(const Graph& graph, const Node& node, OpClass op_class) {
  if (op_class == OpClass::elementwise) return 1;
  if (op_class != OpClass::softmax || node.outputs.size() != 1) return 0;
  const Shape& shape = graph[node.outputs[0]].shape;
  const std::int64_t axis = node.int_attribute("axis", -1);
  const bool last = axis == -1 || axis + 1 == std::int64_t(shape.size());
  return last && !shape.empty() ? std::uint64_t(shape.back()) : 0;
}

}  // namespace

std::vector<Operand> VectorLowering::prepare_inputs(const Node& node, OpClass op_class,
                                                    const Partition& output, Layout layout) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId id = node.inputs[i];
    if (id == TensorId::none || is_parameter(context_.tensor(id))) continue;
    const Partition needed = partition_of_input(context_.graph, node, op_class, i, output);
    const StorageId storage = place_.storages.of(id);
    const bool broadcast =
        context_.tensor(id).elements() != context_.tensor(node.outputs[0]).elements();
    const bool own_layout = storage != no_storage && keeps_layout(op_class) && broadcast && i > 0;
    operands.push_back(
        place_.operands.prepare(id, needed, own_layout ? place_.storages[storage].layout : layout));
  }
  return operands;
}

void VectorLowering::lower(const Node& node, OpClass op_class, const VectorKernel& kernel) {
  if (op_class == OpClass::reduction && lower_split_reduction(node, kernel.name)) return;
  if (node.op == "Concat" && node.inputs.size() > max_parts_at_once) {
    return lower_concat_by_parts(node, op_class, kernel);
  }
  const Partition partition = choose_partition(context_, place_.storages, node, op_class);
  VectorKernel placed = kernel;
  placed.in_place = op_class == OpClass::elementwise || op_class == OpClass::scatter;
  placed.row_elements = elements_at_once(context_.graph, node, op_class);
  Layout layout = Layout::flat;
  const StorageId first = place_.storages.of(node.inputs.empty() ? TensorId::none : node.inputs[0]);
  if (keeps_layout(op_class) && first != no_storage) layout = place_.storages[first].layout;
  if (layout == Layout::weights_d32) layout = Layout::flat;
  auto operands = prepare_inputs(node, op_class, partition, layout);
  std::vector<BufferId> halos;
  for (Operand& operand : operands)
    halos.push_back(exchange_halo(context_, writer_, place_, node, operand, partition));
  tiles_.run(node, placed, partition, layout, operands, halos);
  for (Operand& operand : operands) place_.operands.finish(operand);
  for (BufferId halo : halos) place_.residency.release(halo);
  for (TensorId id : std::set<TensorId>(node.inputs.begin(), node.inputs.end())) {
    // Parameters that are computed, not constant, were not prepared but are used up all the same.
    if (id != TensorId::none && is_parameter(context_.tensor(id))) place_.residency.use_done(id);
  }
}

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
  const std::uint64_t max_bytes =
      *std::max_element(operand.core_bytes.begin(), operand.core_bytes.end());
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
    tile.read_bytes = *std::max_element(bytes.begin(), bytes.end());
    tiles_.emit(kernel, tile, results);
    place_.residency.release(own);
  }
}

// Gather and scatter: data found by indices, often in DDR (embedding tables, KV caches).

void VectorLowering::lower_gather(const Node& node) {
  if (!has_input(node, 0)) {
    return lower(node, OpClass::gather, kernel_named(context_.target, "aicgather"));
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
  VectorKernel kernel = kernel_named(context_.target, "aicgather");
  kernel.reads_ddr = from_ddr;
  kernel.table = data;
  if (context_.tensor(data).constant) {
    place_.constants.count(data, context_.bytes_of(data), context_.bytes_of(data));
  } else {
    if (from_ddr) kernel.source = source;
    values.streamed = false;  // then read in place, element by element
    operands.push_back(values);
  }
  if (has_input(node, 1) && !context_.tensor(node.inputs[1]).constant) {
    operands.push_back(place_.operands.prepare(
        node.inputs[1], {context_.tensor(node.inputs[1]).shape, replicated, 1}, Layout::flat));
  }
  tiles_.run(node, kernel, partition, Layout::flat, operands, {});
  for (Operand& operand : operands) place_.operands.finish(operand);
}

// All of the data comes out again, as the vendor's compiler does it too (the log of Amber's prefill
// writes a whole KV cache for 32 tokens of 128). Within VTCM only the updates are work.
void VectorLowering::lower_scatter(const Node& node) {
  VectorKernel kernel = kernel_named(context_.target, "aicscatternd");
  const TensorId updates = has_input(node, 2) ? node.inputs[2] : TensorId::none;
  if (updates != TensorId::none && has_input(node, 0)) {
    const double share =
        std::min(1.0, double(context_.bytes_of(updates)) /
                          double(std::max<std::uint64_t>(context_.bytes_of(node.inputs[0]), 1)));
    kernel.cycles = [&target = context_.target, share, name = kernel.name](std::uint64_t bytes) {
      return vector_cycles(target, name, std::uint64_t(double(bytes) * share));
    };
  }
  lower(node, OpClass::scatter, kernel);
}

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
  constexpr auto vtcm = TaskOperand::Memory::vtcm;
  Shape all_partial = shape;
  all_partial.insert(all_partial.begin(), std::int64_t(context_.cores));
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (operand.core_bytes[core] == 0) continue;
    TaskSpec spec =
        writer_.vector_task(core, kernel, writer_.node_name(), context_.type_of(output));
    spec.output_bytes = bytes;
    writer_.works_on(spec, {writer_.operand(TaskOperand::Use::out, vtcm, output, shape, bytes),
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
    writer_.works_on(spec, {writer_.operand(TaskOperand::Use::out, vtcm, output, shape, bytes),
                            writer_.operand(TaskOperand::Use::in, vtcm, output, all_partial,
                                            bytes * context_.cores)});
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
