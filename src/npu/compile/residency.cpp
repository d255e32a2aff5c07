// Where tensors are: VTCM allocation with eviction, transfers from and to DDR, exchange between the
// cores, conversion of layouts.
#include <algorithm>
#include <limits>
#include <numeric>

#include "npu/compile/residency.hpp"
#include "npu/compile/retained_state.hpp"

namespace npuscope::npu {
namespace {

std::uint64_t largest(const std::vector<std::uint64_t>& values) {
  return *std::max_element(values.begin(), values.end());
}

// Below this, every core fetches its own copy: a multicast would cost more than it saves.
constexpr std::uint64_t own_copy_bytes = 64 * 1024;

// Tensors in VTCM at once, several times what real models need. Every allocation looks at all of
// them, so this keeps the cost of models with very many live tensors linear.
constexpr std::size_t most_resident = 512;

}  // namespace

Residency::Residency(const Graph& graph, const Target& target, const CompileOptions& options)
    : TaskWriter(graph, target, options),
      cuts_resident_(!target.session && options.slices < 2),
      resident_limit_((target.vtcm_bytes - target.vtcm_reserved_bytes) * 2 / 5),
      vtcm_(target.vtcm_bytes - target.vtcm_reserved_bytes),
      storage_of_(graph.tensors.size(), no_storage),
      outputs_of_(graph.tensors.size(), 0),
      last_input_read_(cores_, no_task),
      retained_(options.retained_state ? find_retained_state(graph)
                                       : std::vector<bool>(graph.tensors.size(), false)) {
  for (TensorId output : graph.outputs) ++outputs_of_[std::uint32_t(output)];
}

StorageId Residency::make_storage(TensorId id, Partition partition, Layout layout) {
  Storage storage;
  storage.bytes = bytes_of(id);
  storage.type = type_of(id);
  storage.partition = std::move(partition);
  storage.layout = layout;
  storage.uses = std::int64_t(tensor(id).consumers.size());
  storage.output_uses = outputs_of_[std::uint32_t(id)];
  storage.uses += storage.output_uses;
  storage.views.push_back(id);
  storages_.push_back(std::move(storage));
  storage_of_[std::uint32_t(id)] = StorageId(storages_.size() - 1);
  return StorageId(storages_.size() - 1);
}

void Residency::add_view(StorageId id, TensorId view) {
  Storage& storage = storages_[id];
  storage_of_[std::uint32_t(view)] = id;
  storage.views.push_back(view);
  const std::int64_t outputs = outputs_of_[std::uint32_t(view)];
  storage.output_uses += outputs;
  storage.uses += std::int64_t(tensor(view).consumers.size()) + outputs;
}

std::size_t Residency::next_use(const Storage& storage) const {
  std::size_t next = std::numeric_limits<std::size_t>::max();
  for (TensorId view : storage.views) {
    const auto& consumers = tensor(view).consumers;  // in the order of the nodes
    const auto at = std::lower_bound(consumers.begin(), consumers.end(), NodeId(position_));
    if (at != consumers.end()) next = std::min(next, std::size_t(*at));
  }
  return next;
}

void Residency::use_done(TensorId id) {
  const StorageId storage = storage_of(id);
  if (storage == no_storage) return;
  --storages_[storage].uses;
  drop_if_unused(storage);
}

bool Residency::fits(const CoreBytes& core_bytes) const {
  return largest(core_bytes) <= resident_limit_;
}

BufferId Residency::try_allocate(const CoreBytes& core_bytes, Lifetime lifetime) {
  const std::uint64_t bytes = largest(core_bytes);
  if (lifetime == Lifetime::tensor && resident_.size() >= most_resident) evict_one();
  do {
    if (auto allocation = vtcm_.allocate(bytes, tasks_.next_buffer(), lifetime)) {
      for (std::uint32_t core = 0; core < cores_; ++core) {
        auto& most = metrics_.cores[core].vtcm_bytes;
        if (core_bytes[core] > 0) most = std::max(most, allocation->address + core_bytes[core]);
      }
      return tasks_.add_buffer(bytes, std::move(*allocation));
    }
    wanted_bytes_ = bytes;
  } while (evict_one());
  return BufferId::none;
}

BufferId Residency::allocate(const CoreBytes& core_bytes, Lifetime lifetime) {
  const BufferId buffer = try_allocate(core_bytes, lifetime);
  if (buffer != BufferId::none) return buffer;
  throw LoweringFailure{
      fmt::format("node '{}' needs {} bytes of VTCM at once, more than {} has left; use more cores "
                  "or a smaller "
                  "batch",
                  strings_[node_name_], largest(core_bytes), target_.name)};
}

// Resident when wanted and there is room; otherwise in DDR, written tile by tile.
void Residency::place_result(NodeResult& result, bool resident) {
  if (resident) result.buffer = try_allocate(result.core_bytes, Lifetime::tensor);
  result.streamed = result.buffer == BufferId::none;
  if (!result.streamed) return;
  begins_spill(result.storage, resident ? Spill::Cause::no_room : Spill::Cause::too_large);
}

void Residency::release(BufferId buffer) {
  if (buffer == BufferId::none) return;
  vtcm_.release(tasks_.buffer_address(buffer));
}

bool Residency::evict_one() {
  StorageId victim = no_storage;
  std::size_t farthest = 0;
  for (StorageId id : resident_) {
    if (pinned_.contains(id)) continue;
    const std::size_t use = next_use(storages_[id]);
    if (victim == no_storage || use > farthest) {
      victim = id;
      farthest = use;
    }
  }
  if (victim == no_storage) return false;
  spill(victim, Spill::Cause::pushed_out);
  return true;
}

void Residency::write_back(StorageId id, Spill::Cause cause) {
  Storage& storage = storages_[id];
  if (storage.in_ddr) return;
  begins_spill(id, cause);
  store_tile(id, storage.buffer, slice_bytes(storage.partition, storage.bytes, cores_));
  storage.in_ddr = true;
  storage.ddr_layout = storage.layout;
}

void Residency::spill(StorageId id, Spill::Cause cause) {
  write_back(id, cause);
  Storage& storage = storages_[id];
  release(storage.buffer);
  storage.buffer = BufferId::none;
  storage.pieces.reset();
  std::erase(resident_, id);
}

// Of a repeated tensor every core writes its part.
void Residency::store_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes) {
  Storage& storage = storages_[id];
  const StringId name = strings_.intern(tensor(storage.views[0]).name);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const std::uint64_t all = core_bytes[core];
    const std::uint64_t bytes =
        storage.partition.axis < 0 ? all * (core + 1) / cores_ - all * core / cores_ : all;
    if (bytes == 0) continue;
    TaskSpec spec = dma_task("aiccopyfromvtcm", name, storage.type, bytes);
    spec.core = core;
    spec.ddr_write = bytes;
    spec.write_purpose = purpose_of_writing(id);
    spec.tensor = storage.views[0];
    spec.movement = storage.output_uses > 0 ? Movement::output : Movement::spill;
    TaskNeeds needs;
    tasks_.need_to_read(buffer, core, needs);
    const TaskIndex task = add(spec, std::move(needs));
    tasks_.reads(task, buffer, core);
    writes_ddr(task, id);
  }
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

void Residency::drop_if_unused(StorageId id) {
  Storage& storage = storages_[id];
  const std::int64_t needed = storage.in_ddr && storage.ddr_layout == Layout::flat
                                  ? storage.uses - storage.output_uses
                                  : storage.uses;
  if (needed > 0 || storage.buffer == BufferId::none) return;
  release(storage.buffer);
  storage.buffer = BufferId::none;
  std::erase(resident_, id);
}

Operand Residency::prepare(TensorId id, const Partition& needed, Layout layout) {
  if (tensor(id).constant) return prepare_constant(id, needed, layout);
  const StorageId storage_id = storage_of(id);
  if (storage_id == no_storage) {
    throw LoweringFailure{fmt::format("tensor '{}', an input of node '{}', is never computed",
                                      tensor(id).name, strings_[node_name_])};
  }
  const bool shared = !pinned_.insert(storage_id).second;  // another operand of this node has it
  Operand operand;
  operand.tensor = id;
  operand.storage = storage_id;
  operand.layout = layout;
  operand.core_bytes = slice_bytes(needed, storages_[storage_id].bytes, cores_);
  if (storages_[storage_id].buffer == BufferId::none && fits(operand.core_bytes)) {
    load(storage_id, needed);
  }
  if (shared && storages_[storage_id].buffer != BufferId::none) {
    prepare_beside(operand, needed);
    return operand;
  }
  if (storages_[storage_id].buffer != BufferId::none) {
    const Partition held = partition_in_view(storages_[storage_id].partition, tensor(id).shape);
    if (!satisfies(held, needed, cores_)) {
      if (!fits(operand.core_bytes) || !repartition(storage_id, needed)) {
        spill(storage_id, Spill::Cause::rearranged);
      }
    }
  }
  if (storages_[storage_id].layout != layout) convert_layout(storage_id, layout);
  operand.buffer = storages_[storage_id].buffer;
  operand.streamed = operand.buffer == BufferId::none;
  return operand;
}

// One tensor as two operands (x times its own transpose): the first one's buffer must stay as it
// is, so the second gets what it needs in a buffer of its own, or through DDR.
void Residency::prepare_beside(Operand& operand, const Partition& needed) {
  const Storage& storage = storages_[operand.storage];
  operand.buffer = storage.buffer;
  const Partition held = partition_in_view(storage.partition, tensor(operand.tensor).shape);
  if (!satisfies(held, needed, cores_)) {
    operand.buffer = fits(operand.core_bytes) ? exchange(operand.storage, storage.buffer, needed)
                                              : BufferId::none;
    operand.temporary = operand.buffer != BufferId::none;
  }
  if (operand.buffer != BufferId::none && storage.layout != operand.layout) {
    const BufferId whole = operand.buffer;
    operand.buffer = convert(operand.storage, whole, operand.core_bytes, operand.layout);
    if (operand.temporary) release(whole);
    operand.temporary = operand.buffer != BufferId::none;
  }
  operand.streamed = operand.buffer == BufferId::none;
  if (operand.streamed) write_back(operand.storage, Spill::Cause::rearranged);
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
  operand.core_bytes = slice_bytes(needed, bytes, cores_);
  if (tensor(id).elements() <= 1) return operand;
  if (!fits(operand.core_bytes)) {
    operand.streamed = true;
    return operand;
  }
  operand.buffer = try_allocate(operand.core_bytes, Lifetime::tile);
  operand.streamed = operand.buffer == BufferId::none;
  if (operand.streamed) return operand;
  operand.temporary = true;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (operand.core_bytes[core] == 0) continue;
    TaskSpec spec = dma_task("aiccopytovtcm", strings_.intern(tensor(id).name), type_of(id),
                             operand.core_bytes[core]);
    spec.core = core;
    spec.ddr_read = operand.core_bytes[core];
    spec.tensor = id;
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
      TaskSpec spec = dma_task("aiccopytovtcm", node_name_, storage.type, core_bytes[core]);
      spec.core = core;
      spec.ddr_read = core_bytes[core];
      spec.read_purpose = purpose_of_reading(id);
      spec.tensor = storage.views[0];
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
  const std::uint64_t part = divide_up(storage.bytes, cores_);
  std::uint64_t left = storage.bytes;
  for (std::uint32_t core = 0; core < cores_ && left > 0; ++core) {
    const std::uint64_t bytes = std::min(part, left);
    left -= bytes;
    TaskSpec copy = dma_task("aiccopytovtcm", node_name_, storage.type, bytes);
    copy.core = core;
    copy.ddr_read = bytes;
    copy.read_purpose = purpose_of_reading(id);
    copy.tensor = storage.views[0];
    copy.movement = movement_to_vtcm(id);
    TaskNeeds needs = storage.ddr_writers;
    tasks_.need_to_write(buffer, core, needs);
    const TaskIndex loaded = add(copy, std::move(needs));
    reads_ddr(loaded, id);
    TaskSpec send = dma_task("aicmulticastvtcm", node_name_, storage.type, bytes);
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

// All-gather when every core needs all of it, else all-to-all: each core sends what others lack.
BufferId Residency::exchange(StorageId id, BufferId from, const Partition& needed) {
  const CoreBytes held = slice_bytes(storages_[id].partition, storages_[id].bytes, cores_);
  const CoreBytes core_bytes = slice_bytes(needed, storages_[id].bytes, cores_);
  const BufferId buffer = try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  const Storage& storage = storages_[id];
  const bool gather = needed.axis < 0;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (held[core] == 0) continue;
    TaskSpec spec = dma_task("aicmulticastvtcm", node_name_, storage.type, held[core]);
    spec.core = core;
    spec.multicast = gather ? held[core] : held[core] * (cores_ - 1) / cores_;
    TaskNeeds needs;
    tasks_.need_to_read(from, core, needs);
    for (std::uint32_t to = 0; to < cores_; ++to) {
      if (core_bytes[to] > 0) tasks_.need_to_write(buffer, to, needs);
    }
    const TaskIndex task = add(spec, std::move(needs));
    tasks_.reads(task, from, core);
    for (std::uint32_t to = 0; to < cores_; ++to) {
      if (core_bytes[to] > 0) tasks_.writes(task, buffer, to);
    }
  }
  return buffer;
}

bool Residency::repartition(StorageId id, const Partition& needed) {
  const BufferId buffer = exchange(id, storages_[id].buffer, needed);
  if (buffer == BufferId::none) return false;
  release(storages_[id].buffer);
  storages_[id].buffer = buffer;
  storages_[id].partition = needed;
  storages_[id].pieces.reset();
  return true;
}

BufferId Residency::convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                            Layout layout) {
  const BufferId buffer = try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  const Storage& storage = storages_[id];
  const std::string kernel = layout == Layout::flat          ? "aicconvertfromd32"
                             : layout == Layout::weights_d32 ? "aicconvertweightstod32"
                                                             : "aicconverttod32";
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = vector_task(kernel, node_name_, storage.type);
    spec.core = core;
    spec.output_bytes = core_bytes[core];
    spec.cycles = vector_cycles(target_, kernel, core_bytes[core]);
    spec.tensor = storage.views[0];
    add_compute(spec, std::span(&from, 1), buffer);
  }
  return buffer;
}

void Residency::convert_layout(StorageId id, Layout layout) {
  const BufferId from = storages_[id].buffer;
  if (from == BufferId::none) return;  // each tile is converted after loading
  const CoreBytes core_bytes = slice_bytes(storages_[id].partition, storages_[id].bytes, cores_);
  const BufferId buffer = convert(id, from, core_bytes, layout);
  if (buffer == BufferId::none) {
    return spill(id, Spill::Cause::rearranged);  // converted tile by tile on the way back
  }
  release(from);
  storages_[id].buffer = buffer;
  storages_[id].layout = layout;
  storages_[id].pieces.reset();
}

// An output of the graph goes to DDR as soon as it is there: waiting would only hold its place.
void Residency::keep_result(const NodeResult& result) {
  Storage& storage = storages_[result.storage];
  storage.in_ddr = result.streamed;
  storage.ddr_layout = storage.layout;
  storage.buffer = result.buffer;
  if (result.buffer != BufferId::none) {
    resident_.push_back(result.storage);
    // Among several devices it would stand in the queue before what another device waits for.
    const bool alone = options_.slices < 2;
    if (alone && storage.output_uses > 0 && storage.layout == Layout::flat) {
      write_back(result.storage, Spill::Cause::pushed_out);
    }
  }
  drop_if_unused(result.storage);
}

BufferId Residency::load_tile(const Operand& operand, std::uint64_t tile, std::uint64_t tiles) {
  CoreBytes core_bytes(cores_);
  for (std::uint32_t core = 0; core < cores_; ++core) {
    const std::uint64_t all = operand.core_bytes[core];
    core_bytes[core] = all * (tile + 1) / tiles - all * tile / tiles;
  }
  const BufferId buffer = allocate(core_bytes, Lifetime::tile);
  const bool constant = operand.storage == no_storage;
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = dma_task("aiccopytovtcm", name_of_tile(tile, tiles), type_of(operand.tensor),
                             core_bytes[core]);
    spec.core = core;
    spec.ddr_read = core_bytes[core];
    if (!constant) spec.read_purpose = purpose_of_reading(operand.storage);
    spec.tensor = operand.tensor;
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
    TaskSpec spec = vector_task(kernel, name_of_tile(tile, tiles), type_of(operand.tensor));
    spec.core = core;
    spec.output_bytes = core_bytes[core];
    spec.cycles = vector_cycles(target_, kernel, core_bytes[core]);
    spec.tensor = operand.tensor;
    add_compute(spec, std::span(&buffer, 1), converted);
  }
  release(buffer);
  return converted;
}

std::uint64_t Residency::bytes_of_resident(std::span<const Operand> operands,
                                           std::uint64_t tiles) const {
  std::uint64_t bytes = 0;
  for (const Operand& operand : operands) {
    if (!operand.streamed) bytes += bytes_in(std::span(&operand.buffer, 1)) / tiles;
  }
  return bytes;
}

void Residency::finish(Operand& operand) {
  if (operand.temporary) release(operand.buffer);
  if (operand.storage == no_storage) return;
  // A node that takes a tensor twice is one of its consumers.
  if (finished_at_ != position_) finished_.clear();
  finished_at_ = position_;
  if (finished_.insert(operand.tensor).second) use_done(operand.tensor);
}

}  // namespace npuscope::npu
