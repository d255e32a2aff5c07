// The ways between DDR and VTCM: loads, stores, and why each of them moves what it moves.
#include <algorithm>

#include "npu/compile/place/residency.hpp"

namespace npuscope::npu {
namespace {

// Below this, every core fetches its own copy: a multicast would cost more than it saves.
constexpr std::uint64_t own_copy_bytes = 64 * 1024;

}  // namespace

void Residency::write_back(StorageId id, Spill::Cause cause) {
  Storage& storage = storages_[id];
  if (storage.in_ddr) return;
  begins_spill(id, cause);
  store_tile(id, storage.buffer, slice_bytes(storage.partition, storage.bytes, cores_));
  storage.in_ddr = true;
  storage.ddr_layout = storage.layout;
}

// Of a repeated tensor every core writes its part.
void Residency::store_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                           const CoreShapes& shapes) {
  Storage& storage = storages_[id];
  const TensorId stored = storage.views[0];
  const StringId name = strings_.intern(tensor(stored).name);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const std::uint64_t all = core_bytes[core];
    const std::uint64_t bytes =
        storage.partition.axis < 0 ? even_bytes(all, core, cores_, storage.type) : all;
    if (bytes == 0) continue;
    TaskSpec spec =
        dma_task(copy_from_vtcm, name, stored,
                 shapes.empty() ? slice_of(storage.partition, core) : shapes[core], bytes);
    spec.core = core;
    spec.ddr_write = bytes;
    spec.write_purpose = purpose_of_writing(id);
    spec.movement = storage.output_uses > 0 ? Movement::output : Movement::spill;
    TaskNeeds needs;
    tasks_.need_to_read(buffer, core, needs);
    const TaskIndex task = add(spec, std::move(needs));
    tasks_.reads(task, buffer, core);
    writes_ddr(task, id);
  }
}

void Residency::store_result_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                                  const CoreShapes& shapes) {
  if (!leaves_flat(id)) return store_tile(id, buffer, core_bytes, shapes);
  const std::string kernel = "aicconvertfromd32";
  const BufferId flat = allocate(core_bytes, Lifetime::tile);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    const Storage& storage = storages_[id];
    TaskSpec spec = convert_task(kernel, node_name_, storage.views[0],
                                 shapes.empty() ? slice_of(storage.partition, core) : shapes[core],
                                 core_bytes[core]);
    spec.core = core;
    add_compute(spec, std::span(&buffer, 1), flat);
  }
  store_tile(id, flat, core_bytes, shapes);
  release(flat);
}

bool Residency::is_retained(const Storage& storage) const {
  return std::any_of(storage.views.begin(), storage.views.end(),
                     [&](TensorId view) { return retained_[std::size_t(view)]; });
}

TrafficPurpose Residency::purpose_of_reading(StorageId id) const {
  const Storage& storage = storages_[id];
  if (!storage.host_input) return TrafficPurpose::spill;
  return is_retained(storage) ? TrafficPurpose::retained_state : TrafficPurpose::network_input;
}

TrafficPurpose Residency::purpose_of_writing(StorageId id) const {
  const Storage& storage = storages_[id];
  if (storage.output_uses == 0) return TrafficPurpose::spill;
  return is_retained(storage) ? TrafficPurpose::retained_state : TrafficPurpose::network_output;
}

void Residency::begins_spill(StorageId id, Spill::Cause cause) {
  Storage& storage = storages_[id];
  if (purpose_of_writing(id) != TrafficPurpose::spill) return;
  storage.spill = log_.size();
  SpillLog entry;
  entry.spill.tensor = tensor(storage.views[0]).name;
  entry.spill.bytes = storage.bytes;
  entry.spill.bytes_of_core = largest(slice_bytes(storage.partition, storage.bytes, cores_));
  entry.spill.cause = cause;
  entry.spill.node = strings_[node_name_];
  entry.spill.wanted_bytes = cause == Spill::Cause::pushed_out ? wanted_bytes_ : 0;
  log_.push_back(std::move(entry));
}

void Residency::reads_ddr(TaskIndex task, StorageId id) {
  tasks_.uses_ddr({task, id, false});
  if (storages_[id].spill != Storage::never_spilled) {
    SpillLog& entry = log_[storages_[id].spill];
    if (entry.back == no_task) {
      entry.back = task;
      entry.spill.back_node = strings_[node_name_];
    }
  }
  if (storages_[id].host_input) last_input_read_[tasks_.tasks()[task].core] = task;
}

// A tensor is written to DDR in as many tiles as it takes, and were every tile read back to name
// them all, their number would grow with its square. Waits count the completed tasks of a queue, so
// one per queue is enough. DMA queues are reordered by when their tasks could start, but one core's
// stores of one tensor stay in order: when there are several, each starts as the task ends that
// made its tile, and those tasks share a queue that is not reordered.
void Residency::writes_ddr(TaskIndex task, StorageId id) {
  tasks_.uses_ddr({task, id, true});
  if (storages_[id].spill != Storage::never_spilled) {
    SpillLog& entry = log_[storages_[id].spill];
    if (entry.out == no_task) entry.out = task;
  }
  TaskNeeds& writers = storages_[id].ddr_writers;
  const auto same = std::find_if(writers.begin(), writers.end(), [&](const TaskNeed& writer) {
    return tasks_.queue_of(writer.task) == tasks_.queue_of(task);
  });
  if (same != writers.end()) {
    same->task = task;
  } else {
    writers.push_back({task, true});
  }
}

Movement Residency::movement_to_vtcm(StorageId id) const {
  return storages_[id].host_input ? Movement::host_input : Movement::fill;
}

Operand Residency::prepare_constant(TensorId id, const Partition& needed, Layout layout,
                                    Movement movement) {
  Operand operand;
  operand.tensor = id;
  operand.layout = layout;
  const std::uint64_t bytes = bytes_of(id);
  count_constant(id, bytes, bytes);
  operand.partition = needed;
  operand.core_bytes = slice_bytes(needed, bytes, cores_);
  if (tensor(id).elements() <= 1) return operand;
  if (!fits(operand.core_bytes)) {
    operand.streamed = true;
    return operand;
  }
  operand.buffer = hoist(id, 0, 1, operand.core_bytes);
  operand.hoisted = operand.buffer != BufferId::none;
  if (operand.hoisted) return operand;
  operand.buffer = try_allocate(operand.core_bytes, Lifetime::tile);
  operand.streamed = operand.buffer == BufferId::none;
  if (operand.streamed) return operand;
  operand.temporary = true;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (operand.core_bytes[core] == 0) continue;
    TaskSpec spec = dma_task(copy_to_vtcm, strings_.intern(tensor(id).name), id,
                             slice_of(needed, core), operand.core_bytes[core]);
    spec.core = core;
    spec.ddr_read = operand.core_bytes[core];
    spec.movement = movement;
    TaskNeeds needs;
    tasks_.need_to_write(operand.buffer, core, needs);
    tasks_.writes(add(spec, std::move(needs)), operand.buffer, core);
  }
  return operand;
}

bool Residency::load(StorageId id, const Partition& needed) {
  const CoreBytes core_bytes = slice_bytes(needed, storages_[id].bytes, cores_);
  const BufferId buffer = try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return false;
  Storage& storage = storages_[id];
  storage.partition = needed;
  storage.layout = storage.ddr_layout;
  storage.pieces.reset();
  if (needed.axis < 0 && cores_ > 1 && storage.bytes > own_copy_bytes) {
    load_once_and_multicast(id, buffer);
  } else {
    for (std::uint32_t core = 0; core < cores_; ++core) {
      if (core_bytes[core] == 0) continue;
      TaskSpec spec = dma_task(copy_to_vtcm, node_name_, storage.views[0], slice_of(needed, core),
                               core_bytes[core]);
      spec.core = core;
      spec.ddr_read = core_bytes[core];
      spec.read_purpose = purpose_of_reading(id);
      spec.movement = movement_to_vtcm(id);
      TaskNeeds needs = storage.ddr_writers;
      tasks_.need_to_write(buffer, core, needs);
      const TaskIndex task = add(spec, std::move(needs));
      tasks_.writes(task, buffer, core);
      reads_ddr(task, id);
    }
  }
  storage.buffer = buffer;
  resident_.push_back(id);
  return true;
}

void Residency::load_once_and_multicast(StorageId id, BufferId buffer) {
  const Storage& storage = storages_[id];
  const std::uint64_t element = std::max(bits_of(storage.type) / 8, 1u);
  const std::uint64_t part = round_up(divide_up(storage.bytes, cores_), element);
  std::uint64_t left = storage.bytes;
  for (std::uint32_t core = 0; core < cores_ && left > 0; ++core) {
    const std::uint64_t bytes = std::min(part, left);
    left -= bytes;
    const Shape& whole = storage.partition.shape;
    TaskSpec copy = dma_task(copy_to_vtcm, node_name_, storage.views[0], whole, bytes);
    copy.core = core;
    copy.ddr_read = bytes;
    copy.read_purpose = purpose_of_reading(id);
    copy.movement = movement_to_vtcm(id);
    TaskNeeds needs = storage.ddr_writers;
    tasks_.need_to_write(buffer, core, needs);
    const TaskIndex loaded = add(copy, std::move(needs));
    reads_ddr(loaded, id);
    TaskSpec send = dma_task(multicast_vtcm, node_name_, storage.views[0], whole, bytes);
    send.core = core;
    send.multicast = bytes;
    TaskNeeds send_needs{{loaded, true}};
    for (std::uint32_t to = 0; to < cores_; ++to) {
      tasks_.need_to_write(buffer, to, send_needs);
    }
    const TaskIndex sent = add(send, std::move(send_needs));
    for (std::uint32_t to = 0; to < cores_; ++to) tasks_.writes(sent, buffer, to);
  }
}

BufferId Residency::load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles) {
  CoreBytes core_bytes(cores_);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const std::uint64_t all = operand.core_bytes[core];
    core_bytes[core] = even_bytes(all, tile, tiles, type_of(operand.tensor));
  }
  const BufferId buffer = allocate(core_bytes, Lifetime::tile);
  const bool constant = operand.storage == no_storage;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = dma_task(copy_to_vtcm, name_of_tile(tile, tiles), operand.tensor,
                             slice_of(operand.partition, core), core_bytes[core]);
    spec.core = core;
    spec.ddr_read = core_bytes[core];
    if (!constant) spec.read_purpose = purpose_of_reading(operand.storage);
    spec.movement = constant ? Movement::constant : movement_to_vtcm(operand.storage);
    TaskNeeds needs = constant ? TaskNeeds{} : storages_[operand.storage].ddr_writers;
    tasks_.need_to_write(buffer, core, needs);
    const TaskIndex task = add(spec, std::move(needs));
    tasks_.writes(task, buffer, core);
    if (!constant) reads_ddr(task, operand.storage);
  }
  if (!converts_tiles(operand)) return buffer;
  const BufferId converted = allocate(core_bytes, Lifetime::tile);
  const std::string kernel =
      operand.layout == Layout::flat ? "aicconvertfromd32" : "aicconverttod32";
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = convert_task(kernel, name_of_tile(tile, tiles), operand.tensor,
                                 slice_of(operand.partition, core), core_bytes[core]);
    spec.core = core;
    add_compute(spec, std::span(&buffer, 1), converted);
  }
  release(buffer);
  return converted;
}

}  // namespace npuscope::npu
