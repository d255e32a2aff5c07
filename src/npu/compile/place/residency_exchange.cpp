// The ways within VTCM: exchange between the cores, and conversion of layouts.
#include "npu/compile/place/residency.hpp"

namespace npuscope::npu {

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
    operand.buffer =
        convert(operand.storage, whole, operand.core_bytes, operand.partition, operand.layout);
    if (operand.temporary) release(whole);
    operand.temporary = operand.buffer != BufferId::none;
  }
  operand.streamed = operand.buffer == BufferId::none;
  if (operand.streamed) write_back(operand.storage, Spill::Cause::rearranged);
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
    TaskSpec spec = dma_task(multicast_vtcm, node_name_, storage.views[0],
                             slice_of(storage.partition, core), held[core]);
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

TaskSpec Residency::convert_task(const std::string& kernel, StringId name, TensorId id,
                                 const Shape& whole, std::uint64_t bytes) const {
  TaskSpec spec = vector_task(kernel, name, type_of(id));
  spec.output_bytes = bytes;
  spec.cycles = vector_cycles(target_, kernel, bytes);
  spec.tensor = id;
  constexpr auto vtcm = TaskOperand::Memory::vtcm;
  works_on(spec, {operand(TaskOperand::Use::out, vtcm, id, whole, bytes),
                  operand(TaskOperand::Use::in, vtcm, id, whole, bytes)});
  return spec;
}

BufferId Residency::convert(StorageId id, BufferId from, const CoreBytes& core_bytes,
                            const Partition& partition, Layout layout) {
  const BufferId buffer = try_allocate(core_bytes, Lifetime::tensor);
  if (buffer == BufferId::none) return buffer;
  const Storage& storage = storages_[id];
  const std::string kernel = layout == Layout::flat          ? "aicconvertfromd32"
                             : layout == Layout::weights_d32 ? "aicconvertweightstod32"
                                                             : "aicconverttod32";
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    TaskSpec spec = convert_task(kernel, node_name_, storage.views[0], slice_of(partition, core),
                                 core_bytes[core]);
    spec.core = core;
    add_compute(spec, std::span(&from, 1), buffer);
  }
  return buffer;
}

void Residency::convert_layout(StorageId id, Layout layout) {
  const BufferId from = storages_[id].buffer;
  if (from == BufferId::none) return;  // each tile is converted after loading
  const CoreBytes core_bytes = slice_bytes(storages_[id].partition, storages_[id].bytes, cores_);
  const BufferId buffer = convert(id, from, core_bytes, storages_[id].partition, layout);
  if (buffer == BufferId::none) {
    return spill(id, Spill::Cause::rearranged);  // converted tile by tile on the way back
  }
  release(from);
  storages_[id].buffer = buffer;
  storages_[id].layout = layout;
  storages_[id].pieces.reset();
}

}  // namespace npuscope::npu
