#include "npu/nsp/compile/place/ddr_copies.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

void DdrCopies::write_back(StorageId id, Spill::Cause cause, std::uint64_t wanted_bytes) {
  Storage& storage = storages_[id];
  if (storage.in_ddr) return;
  begin_spill(id, cause, wanted_bytes);
  store_tile(id, storage.buffer, context_.slices_of(storage.partition, storage.bytes));
  storage.in_ddr = true;
  storage.ddr_layout = storage.layout;
}

void DdrCopies::begin_spill(StorageId id, Spill::Cause cause, std::uint64_t wanted_bytes) {
  Storage& storage = storages_[id];
  if (storages_.purpose_of_writing(id) != TrafficPurpose::spill) return;
  storage.spill = log_.size();
  SpillLog entry;
  entry.spill.tensor = context_.tensor(storage.views[0]).name;
  entry.spill.bytes = storage.bytes;
  entry.spill.bytes_of_core = largest(context_.slices_of(storage.partition, storage.bytes));
  entry.spill.cause = cause;
  entry.spill.node = writer_.node_text();
  entry.spill.wanted_bytes = wanted_bytes;
  log_.push_back(std::move(entry));
}

// Of a repeated tensor every core writes its part.
void DdrCopies::store_tile(StorageId id, BufferId buffer, const CoreBytes& core_bytes,
                           const CoreShapes& shapes) {
  const Storage& storage = storages_[id];
  const TensorId stored = storage.views[0];
  const StringId name = writer_.intern(context_.tensor(stored).name);
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    const std::uint64_t all = core_bytes[core];
    const std::uint64_t bytes =
        storage.partition.axis < 0 ? even_bytes(all, core, context_.cores, storage.type) : all;
    if (bytes == 0) continue;
    const Shape& shape = shapes.empty() ? context_.slice_of(storage.partition, core) : shapes[core];
    TaskSpec spec = writer_.dma_task(core, copy_from_vtcm, name, stored, shape, bytes);
    spec.ddr_write = bytes;
    spec.write_purpose = storages_.purpose_of_writing(id);
    spec.movement = storage.output_uses > 0 ? Movement::output : Movement::spill;
    is_written(id, writer_.add(spec, {reads(buffer, core)}));
  }
}

void DdrCopies::is_read(StorageId id, TaskIndex task) {
  const Storage& storage = storages_[id];
  writer_.tasks().uses_ddr({task, id, false});
  if (storage.spill != Storage::never_spilled) {
    SpillLog& entry = log_[storage.spill];
    if (entry.back == no_task) {
      entry.back = task;
      entry.spill.back_node = writer_.node_text();
    }
  }
  if (storage.host_input) last_input_read_[writer_.tasks().task(task).core] = task;
}

// A tensor is written to DDR in as many tiles as it takes, and were every tile read back to name
// them all, their number would grow with its square. Waits count the completed tasks of a queue, so
// one per queue is enough. DMA queues are reordered by when their tasks could start, but one core's
// stores of one tensor stay in order: when there are several, each starts as the task ends that
// made its tile, and those tasks share a queue that is not reordered.
void DdrCopies::is_written(StorageId id, TaskIndex task) {
  const TaskGraph& tasks = writer_.tasks();
  writer_.tasks().uses_ddr({task, id, true});
  if (storages_[id].spill != Storage::never_spilled) {
    SpillLog& entry = log_[storages_[id].spill];
    if (entry.out == no_task) entry.out = task;
  }
  TaskNeeds& writers = storages_[id].ddr_writers;
  const auto same = std::find_if(writers.begin(), writers.end(), [&](const TaskNeed& writer) {
    return tasks.queue_of(writer.task) == tasks.queue_of(task);
  });
  if (same != writers.end()) {
    same->task = task;
  } else {
    writers.push_back({task, true});
  }
}

}  // namespace npuscope::npu::nsp
