#include "npu/targets/nsp/compile/devices/devices.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {
namespace {

constexpr std::uint64_t vtcm_line_bytes = 128;

// Of a whole number of cache lines where it is cut.
std::uint64_t part_in_lines(std::uint64_t all, std::uint64_t index, std::uint64_t parts) {
  const std::uint64_t lines = divide_up(all, vtcm_line_bytes);
  const auto bound = [&](std::uint64_t i) {
    return std::min(all, lines * i / parts * vtcm_line_bytes);
  };
  return bound(index + 1) - bound(index);
}

bool is_collective(const Node& node) { return node.domain == collective_domain; }

}  // namespace

CollectiveLowering::CollectiveLowering(const CompileContext& context, TaskWriter& writer,
                                       Placement& place)
    : LoweringPart(context, writer, place), used_up_(context.cores, no_task) {
  if (context.options.slices > 1) reserve_landing_places();
}

void CollectiveLowering::reserve_landing_places() {
  std::uint64_t max_bytes = 0;
  for (const Node& node : context_.graph.nodes) {
    if (is_collective(node)) max_bytes = std::max(max_bytes, context_.bytes_of(node.outputs[0]));
  }
  if (max_bytes == 0) return;
  const CoreBytes bytes(
      context_.cores,
      std::min(max_bytes, context_.tile_bytes + vtcm_line_bytes * context_.options.slices));
  for (BufferId& landing : landing_) landing = place_.residency.allocate(bytes, Lifetime::tensor);
}

void CollectiveLowering::lower(const Node& node) {
  node.op == all_reduce ? lower_all_reduce(node) : lower_all_gather(node);
}

// All devices must cut alike. Where their parts are alike, so is everything before, and what the
// cores hold is taken as it is; else only the shape of the whole tensor decides.
Partition CollectiveLowering::collective_partition(const Node& node) const {
  const Shape& shape = context_.tensor(node.inputs[0]).shape;
  const Storage& storage = place_.storages[place_.storages.of(node.inputs[0])];
  if (node.int_attribute("even", 0) != 0 && storage.buffer != BufferId::none) {
    const Partition held = partition_in_view(storage.partition, shape);
    if (held.axis >= 0) return held;
  }
  const auto split_axis = int(node.int_attribute("axis", -1));
  Partition partition{shape, int(shape.size()) - 1, 1};
  for (int axis = 0; axis < int(shape.size()); ++axis) {
    const bool more = shape[std::size_t(axis)] > shape[std::size_t(partition.axis)];
    if (axis != split_axis && (more || partition.axis == split_axis)) partition.axis = axis;
  }
  return partition;
}

TaskSpec CollectiveLowering::peer_task(TaskSpec spec, std::uint32_t peer, std::uint64_t bytes,
                                       bool incoming) {
  spec.peer = peer;
  spec.peer_bytes = bytes;
  spec.peer_number = number_of(spec.core);
  spec.incoming = incoming;
  spec.output_bytes = bytes;
  spec.memory = writer_.intern("TCM");
  spec.attributes = writer_.intern(
      fmt::format("{{PortType: P2P, PortDescription: {}{}{}, TransactionId: {}}}",
                  context_.options.slice, incoming ? "<-" : "->", peer, spec.peer_number));
  return spec;
}

std::vector<TaskIndex> CollectiveLowering::send(BufferId from, const DeviceBytes& sent,
                                                std::uint32_t core, StringId name) {
  std::vector<TaskIndex> tasks;
  for (std::uint32_t peer = 0; peer < context_.options.slices; ++peer) {
    if (peer == context_.options.slice || sent[peer][core] == 0) continue;
    TaskSpec spec =
        writer_.dma_task(core, multicast_to_device, name, writer_.node_result(),
                         context_.tensor(writer_.node_result()).shape, sent[peer][core]);
    spec = peer_task(spec, peer, sent[peer][core], false);
    TaskNeeds needs;
    if (used_up_[core] != no_task) needs.push_back({used_up_[core], false});
    tasks.push_back(writer_.add(spec, {reads(from, core)}, needs));
  }
  return tasks;
}

// After the core's own sending, so that no queue puts work that follows in front of it.
void CollectiveLowering::receive(BufferId place, const DeviceBytes& received, std::uint32_t core,
                                 StringId name, const std::vector<TaskIndex>& sent) {
  bool first = true;
  for (std::uint32_t peer = 0; peer < context_.options.slices; ++peer) {
    if (peer == context_.options.slice || received[peer][core] == 0) continue;
    const std::string kernel = "aicmulticastvtcm_in";
    TaskSpec spec =
        writer_.vector_task(core, kernel, name, context_.type_of(writer_.node_result()));
    spec.thread_imbalance = 0;
    spec.cycles = vector_cycles(context_.target, kernel, 0);
    spec = peer_task(spec, peer, received[peer][core], true);
    const TaskOperand arrives =
        writer_.in_vtcm(TaskOperand::Use::out, writer_.node_result(),
                        context_.tensor(writer_.node_result()).shape, received[peer][core]);
    writer_.works_on(spec, {arrives});
    TaskNeeds needs;
    for (TaskIndex task : sent) needs.push_back({task, false});
    if (first) {
      writer_.add(spec, {overwrites(place, core)}, needs);
    } else {
      writer_.tasks().record(writer_.add(spec, {}, needs), writes(place, core));
    }
    first = false;
  }
}

BufferId CollectiveLowering::exchange_with_peers(BufferId from, const DeviceBytes& sent,
                                                 const DeviceBytes& received, StringId name) {
  const BufferId place = landing_[exchanges_ % landing_.size()];
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const auto tasks = send(from, sent, core, name);
    receive(place, received, core, name, tasks);
  }
  ++exchanges_;
  return place;
}

// What is there already, and what has arrived from so many devices.
std::vector<TaskOperand> CollectiveLowering::used_up_operands(BufferId place, std::uint64_t bytes,
                                                              std::uint64_t times) const {
  const Shape& shape = context_.tensor(writer_.node_result()).shape;
  const std::uint64_t arrived = std::min(bytes * times, writer_.tasks().buffer_bytes(place));
  return {writer_.in_vtcm(TaskOperand::Use::out, writer_.node_result(), shape, bytes),
          writer_.in_vtcm(TaskOperand::Use::in, writer_.node_result(), shape, bytes),
          writer_.in_vtcm(TaskOperand::Use::in, writer_.node_result(), shape, arrived)};
}

void CollectiveLowering::use_up(const char* kernel, BufferId place, BufferId own, BufferId writes,
                                const CoreBytes& output_bytes, std::uint64_t times, StringId name) {
  const BufferId reads[] = {own, place};
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (output_bytes[core] == 0) continue;
    TaskSpec spec =
        writer_.vector_task(core, kernel, name, context_.type_of(writer_.node_result()));
    spec.output_bytes = output_bytes[core];
    writer_.works_on(spec, used_up_operands(place, output_bytes[core], times));
    spec.vtcm_read = output_bytes[core] * (times + 1);
    spec.cycles = vector_cycles(context_.target, kernel, output_bytes[core] * times);
    used_up_[core] = writer_.add_compute(spec, reads, writes);
  }
}

void CollectiveLowering::lower_all_reduce(const Node& node) {
  const std::uint32_t devices = context_.options.slices;
  const Partition partition = collective_partition(node);
  const Layout layout = place_.storages[place_.storages.of(node.inputs[0])].layout;
  Operand operand = place_.operands.prepare(node.inputs[0], partition, layout);
  NodeResult result = place_.operands.make_result(node.outputs[0], partition, layout);
  place_.operands.place_result(result);
  const DataType type = context_.type_of(writer_.node_result());
  const std::uint64_t tiles = writer_.tiles_for(largest(result.core_bytes));
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    const CoreBytes all = even_bytes(result.core_bytes, tile, tiles, type);
    DeviceBytes parts = for_each_device(all);
    for (std::uint32_t core = 0; core < context_.cores; ++core) {
      for (std::uint32_t device = 0; device < devices; ++device) {
        // Turned from core to core, so that what is left over does not always meet the same device.
        parts[device][core] = part_in_lines(all[core], (device + core) % devices, devices);
      }
    }
    const CoreBytes& mine = parts[context_.options.slice];
    const StringId name = writer_.name_of_tile(tile, tiles);
    const BufferId own =
        operand.streamed ? place_.transfers.load_tile(operand, tile, tiles) : operand.buffer;
    const BufferId sum = place_.residency.allocate(mine, Lifetime::tile);
    const BufferId writes = place_.transfers.place_tile(result, all);
    BufferId place = exchange_with_peers(own, parts, for_each_device(mine), name);
    use_up("elementadd", place, own, sum, mine, devices - 1, name);
    place = exchange_with_peers(sum, for_each_device(mine), parts, name);
    use_up("aiccopysamevtcm", place, sum, writes, all, 1, name);
    place_.residency.release(sum);
    if (operand.streamed) place_.residency.release(own);
    if (!result.streamed) continue;
    place_.ddr.store_tile(result.storage, writes, all);
    place_.residency.release(writes);
  }
  place_.operands.finish(operand);
  place_.operands.keep_result(result);
}

void CollectiveLowering::lower_all_gather(const Node& node) {
  const std::uint32_t devices = context_.options.slices;
  const TensorId input = node.inputs[0];
  const auto axis = std::size_t(node.int_attribute("axis", 0));
  const Partition partition = collective_partition(node);
  const Layout layout = place_.storages[place_.storages.of(input)].layout;
  Operand operand = place_.operands.prepare(input, partition, layout);
  const Shape& whole = context_.tensor(node.outputs[0]).shape;
  const auto extents = shares(whole[axis], node.int_attribute("unit", 1), devices);
  DeviceBytes parts;
  CoreBytes all(context_.cores);
  for (std::uint32_t device = 0; device < devices; ++device) {
    Partition own = partition;
    own.shape[axis] = std::int64_t(extents[device]);
    const std::uint64_t bytes =
        context_.bytes_of(node.outputs[0]) / std::uint64_t(whole[axis]) * extents[device];
    parts.push_back(context_.slices_of(own, bytes));
    for (std::uint32_t core = 0; core < context_.cores; ++core) all[core] += parts.back()[core];
  }
  const Partition joined{whole, partition.axis, partition.axis == int(axis) ? 1 : partition.unit};
  NodeResult result = place_.operands.make_result(node.outputs[0], joined, layout);
  place_.operands.place_result(result);
  const DataType type = context_.type_of(writer_.node_result());
  const std::uint64_t tiles = writer_.tiles_for(largest(all));
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    DeviceBytes tile_parts = parts;
    for (CoreBytes& bytes : tile_parts) bytes = even_bytes(bytes, tile, tiles, type);
    const CoreBytes tile_bytes = even_bytes(result.core_bytes, tile, tiles, type);
    const StringId name = writer_.name_of_tile(tile, tiles);
    const BufferId own =
        operand.streamed ? place_.transfers.load_tile(operand, tile, tiles) : operand.buffer;
    const BufferId writes = place_.transfers.place_tile(result, tile_bytes);
    const BufferId place = exchange_with_peers(
        own, for_each_device(tile_parts[context_.options.slice]), tile_parts, name);
    use_up("aiccopysamevtcm", place, own, writes, tile_bytes, 1, name);
    if (operand.streamed) place_.residency.release(own);
    if (!result.streamed) continue;
    place_.ddr.store_tile(result.storage, writes, tile_bytes);
    place_.residency.release(writes);
  }
  place_.operands.finish(operand);
  place_.operands.keep_result(result);
}

}  // namespace npuscope::npu::nsp
