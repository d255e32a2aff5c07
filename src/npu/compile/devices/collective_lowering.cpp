#include "npu/compile/devices/collective_lowering.hpp"

#include <algorithm>

#include "npu/compile/devices/shard.hpp"

namespace npuscope::npu {
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

void CollectiveLowering::reserve_landing_places() {
  used_up_.assign(cores_, no_task);
  std::uint64_t max = 0;
  for (const Node& node : graph_.nodes) {
    if (is_collective(node)) max = std::max(max, bytes_of(node.outputs[0]));
  }
  if (max == 0) return;
  const CoreBytes bytes(cores_, std::min(max, tile_bytes_ + vtcm_line_bytes * options_.slices));
  for (BufferId& place : places_) place = allocate(bytes, Lifetime::tensor);
}

void CollectiveLowering::lower_collective(const Node& node) {
  node.op == all_reduce ? lower_all_reduce(node) : lower_all_gather(node);
}

// All devices must cut alike. Where their parts are alike, so is everything before, and what the
// cores hold is taken as it is; else only the shape of the whole tensor decides.
Partition CollectiveLowering::collective_partition(const Node& node) const {
  const Shape& shape = tensor(node.inputs[0]).shape;
  const Storage& storage = storages_[storage_of(node.inputs[0])];
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
                                       bool incoming) const {
  spec.peer = peer;
  spec.peer_bytes = bytes;
  spec.peer_number = number_of(spec.core);
  spec.incoming = incoming;
  spec.output_bytes = bytes;
  spec.memory = strings_.intern("TCM");
  spec.attributes =
      strings_.intern(fmt::format("{{PortType: P2P, PortDescription: {}{}{}, TransactionId: {}}}",
                                  options_.slice, incoming ? "<-" : "->", peer, spec.peer_number));
  return spec;
}

std::vector<TaskIndex> CollectiveLowering::send(BufferId from, const DeviceBytes& sent,
                                                std::uint32_t core, StringId name) {
  std::vector<TaskIndex> tasks;
  for (std::uint32_t peer = 0; peer < options_.slices; ++peer) {
    if (peer == options_.slice || sent[peer][core] == 0) continue;
    TaskSpec spec = dma_task(multicast_to_device, name, node_result_, tensor(node_result_).shape,
                             sent[peer][core]);
    spec.core = core;
    spec = peer_task(spec, peer, sent[peer][core], false);
    TaskNeeds needs;
    tasks_.need_to_read(from, core, needs);
    if (used_up_[core] != no_task) needs.push_back({used_up_[core], false});
    tasks.push_back(add(spec, std::move(needs)));
    tasks_.reads(tasks.back(), from, core);
  }
  return tasks;
}

// After the core's own sending, so that no queue puts work that follows in front of it.
void CollectiveLowering::receive(BufferId place, const DeviceBytes& received, std::uint32_t core,
                                 StringId name, const std::vector<TaskIndex>& sent) {
  bool first = true;
  for (std::uint32_t peer = 0; peer < options_.slices; ++peer) {
    if (peer == options_.slice || received[peer][core] == 0) continue;
    const std::string kernel = "aicmulticastvtcm_in";
    TaskSpec spec = vector_task(kernel, name, type_of(node_result_));
    spec.core = core;
    spec.thread_imbalance = 0;
    spec.cycles = vector_cycles(target_, kernel, 0);
    spec = peer_task(spec, peer, received[peer][core], true);
    const TaskOperand arrives =
        operand(TaskOperand::Use::out, TaskOperand::Memory::vtcm, node_result_,
                tensor(node_result_).shape, received[peer][core]);
    works_on(spec, {arrives});
    TaskNeeds needs;
    if (first) tasks_.need_to_overwrite(place, core, needs);
    for (TaskIndex task : sent) needs.push_back({task, false});
    const TaskIndex task = add(spec, std::move(needs));
    first ? tasks_.overwrites(task, place, core) : tasks_.writes(task, place, core);
    first = false;
  }
}

BufferId CollectiveLowering::exchange_with_peers(BufferId from, const DeviceBytes& sent,
                                                 const DeviceBytes& received, StringId name) {
  const BufferId place = places_[exchanges_ % places_.size()];
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const auto tasks = send(from, sent, core, name);
    receive(place, received, core, name, tasks);
  }
  ++exchanges_;
  return place;
}

// What is there already, and what has arrived from so many devices.
std::vector<TaskOperand> CollectiveLowering::used_up_operands(BufferId place, std::uint64_t bytes,
                                                              std::uint64_t times) const {
  constexpr auto vtcm = TaskOperand::Memory::vtcm;
  const Shape& shape = tensor(node_result_).shape;
  const std::uint64_t arrived = std::min(bytes * times, tasks_.buffer_bytes(place));
  return {operand(TaskOperand::Use::out, vtcm, node_result_, shape, bytes),
          operand(TaskOperand::Use::in, vtcm, node_result_, shape, bytes),
          operand(TaskOperand::Use::in, vtcm, node_result_, shape, arrived)};
}

void CollectiveLowering::use_up(const char* kernel, BufferId place, BufferId own, BufferId writes,
                                const CoreBytes& output_bytes, std::uint64_t times, StringId name) {
  const BufferId reads[] = {own, place};
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (output_bytes[core] == 0) continue;
    TaskSpec spec = vector_task(kernel, name, type_of(node_result_));
    spec.core = core;
    spec.output_bytes = output_bytes[core];
    works_on(spec, used_up_operands(place, output_bytes[core], times));
    spec.vtcm_read = output_bytes[core] * (times + 1);
    spec.cycles = vector_cycles(target_, kernel, output_bytes[core] * times);
    used_up_[core] = add_compute(spec, reads, writes);
  }
}

void CollectiveLowering::lower_all_reduce(const Node& node) {
  const std::uint32_t devices = options_.slices;
  const Partition partition = collective_partition(node);
  const Layout layout = storages_[storage_of(node.inputs[0])].layout;
  std::vector<Operand> operands{prepare(node.inputs[0], partition, layout)};
  const Operand& operand = operands[0];
  NodeResult result;
  result.storage = make_storage(node.outputs[0], partition, layout);
  pinned_.insert(result.storage);
  result.core_bytes = slice_bytes(partition, storages_[result.storage].bytes, cores_);
  place_result(result, fits(result.core_bytes));
  const std::uint64_t tiles = tiles_for(largest(result.core_bytes));
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    CoreBytes all(cores_), mine(cores_);
    DeviceBytes parts = for_each_device(CoreBytes(cores_));
    for (std::uint32_t core = 0; core < cores_; ++core) {
      all[core] = even_bytes(result.core_bytes[core], tile, tiles, type_of(node_result_));
      for (std::uint32_t device = 0; device < devices; ++device) {
        // Turned from core to core, so that what is left over does not always meet the same device.
        parts[device][core] = part_in_lines(all[core], (device + core) % devices, devices);
      }
      mine[core] = parts[options_.slice][core];
    }
    const StringId name = name_of_tile(tile, tiles);
    const BufferId own = operand.streamed ? load_tile(operand, tile, tiles) : operand.buffer;
    const BufferId sum = allocate(mine, Lifetime::tile);
    const BufferId writes = result.streamed ? allocate(all, Lifetime::tile) : result.buffer;
    BufferId place = exchange_with_peers(own, parts, for_each_device(mine), name);
    use_up("elementadd", place, own, sum, mine, devices - 1, name);
    place = exchange_with_peers(sum, for_each_device(mine), parts, name);
    use_up("aiccopysamevtcm", place, sum, writes, all, 1, name);
    release(sum);
    if (operand.streamed) release(own);
    if (!result.streamed) continue;
    store_tile(result.storage, writes, all);
    release(writes);
  }
  finish(operands[0]);
  keep_result(result);
}

void CollectiveLowering::lower_all_gather(const Node& node) {
  const std::uint32_t devices = options_.slices;
  const TensorId input = node.inputs[0];
  const auto axis = std::size_t(node.int_attribute("axis", 0));
  const Partition partition = collective_partition(node);
  const Layout layout = storages_[storage_of(input)].layout;
  std::vector<Operand> operands{prepare(input, partition, layout)};
  const Operand& operand = operands[0];
  const Shape& whole = tensor(node.outputs[0]).shape;
  const auto extents = shares(whole[axis], node.int_attribute("unit", 1), devices);
  DeviceBytes parts;
  CoreBytes all(cores_);
  for (std::uint32_t device = 0; device < devices; ++device) {
    Partition own = partition;
    own.shape[axis] = std::int64_t(extents[device]);
    const std::uint64_t bytes =
        bytes_of(node.outputs[0]) / std::uint64_t(whole[axis]) * extents[device];
    parts.push_back(slice_bytes(own, bytes, cores_));
    for (std::uint32_t core = 0; core < cores_; ++core) all[core] += parts.back()[core];
  }
  NodeResult result;
  const Partition joined{whole, partition.axis, partition.axis == int(axis) ? 1 : partition.unit};
  result.storage = make_storage(node.outputs[0], joined, layout);
  pinned_.insert(result.storage);
  result.core_bytes = slice_bytes(joined, storages_[result.storage].bytes, cores_);
  place_result(result, fits(result.core_bytes));
  const std::uint64_t tiles = tiles_for(largest(all));
  for (std::uint64_t tile = 0; tile < tiles; ++tile) {
    DeviceBytes tile_parts = parts;
    CoreBytes tile_bytes(cores_);
    for (CoreBytes& bytes : tile_parts) {
      for (std::uint64_t& of_core : bytes)
        of_core = even_bytes(of_core, tile, tiles, type_of(node_result_));
    }
    for (std::uint32_t core = 0; core < cores_; ++core) {
      tile_bytes[core] = even_bytes(result.core_bytes[core], tile, tiles, type_of(node_result_));
    }
    const StringId name = name_of_tile(tile, tiles);
    const BufferId own = operand.streamed ? load_tile(operand, tile, tiles) : operand.buffer;
    const BufferId writes = result.streamed ? allocate(tile_bytes, Lifetime::tile) : result.buffer;
    const BufferId place =
        exchange_with_peers(own, for_each_device(tile_parts[options_.slice]), tile_parts, name);
    use_up("aiccopysamevtcm", place, own, writes, tile_bytes, 1, name);
    if (operand.streamed) release(own);
    if (!result.streamed) continue;
    store_tile(result.storage, writes, tile_bytes);
    release(writes);
  }
  finish(operands[0]);
  keep_result(result);
}

}  // namespace npuscope::npu
