#include "npu/targets/nsp/compile/place/storages.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

namespace npuscope::npu::nsp {

Storages::Storages(const CompileContext& context)
    : context_(context),
      storage_of_(context.graph.tensors.size(), no_storage),
      outputs_of_(context.graph.tensors.size(), 0),
      retained_(context.options.retained_state
                    ? find_retained_state(context.graph)
                    : std::vector<bool>(context.graph.tensors.size(), false)) {
  for (TensorId output : context.graph.outputs) ++outputs_of_[std::uint32_t(output)];
}

StorageId Storages::make(TensorId id, Partition partition, Layout layout) {
  Storage storage;
  storage.bytes = context_.bytes_of(id);
  storage.type = context_.type_of(id);
  storage.partition = std::move(partition);
  storage.layout = layout;
  storages_.push_back(std::move(storage));
  add_view(StorageId(storages_.size() - 1), id);
  return StorageId(storages_.size() - 1);
}

void Storages::add_view(StorageId id, TensorId view) {
  Storage& storage = storages_[id];
  storage_of_[std::uint32_t(view)] = id;
  storage.views.push_back(view);
  const std::int64_t outputs = outputs_of(view);
  storage.output_uses += outputs;
  storage.uses += std::int64_t(context_.tensor(view).consumers.size()) + outputs;
}

std::size_t Storages::next_use(StorageId id, std::size_t position) const {
  std::size_t next = std::numeric_limits<std::size_t>::max();
  for (TensorId view : storages_[id].views) {
    const auto& consumers = context_.tensor(view).consumers;  // in the order of the nodes
    const auto at = std::lower_bound(consumers.begin(), consumers.end(), NodeId(position));
    if (at != consumers.end()) next = std::min(next, std::size_t(*at));
  }
  return next;
}

bool Storages::is_retained(const Storage& storage) const {
  return std::any_of(storage.views.begin(), storage.views.end(),
                     [&](TensorId view) { return retained_[std::size_t(view)]; });
}

TrafficPurpose Storages::purpose_of_reading(StorageId id) const {
  const Storage& storage = storages_[id];
  if (!storage.host_input) return TrafficPurpose::spill;
  return is_retained(storage) ? TrafficPurpose::retained_state : TrafficPurpose::network_input;
}

TrafficPurpose Storages::purpose_of_writing(StorageId id) const {
  const Storage& storage = storages_[id];
  if (storage.output_uses == 0) return TrafficPurpose::spill;
  return is_retained(storage) ? TrafficPurpose::retained_state : TrafficPurpose::network_output;
}

std::vector<bool> find_retained_state(const Graph& graph) {
  constexpr std::string_view suffix = "_RetainedState";
  std::vector<bool> retained(graph.tensors.size(), false);
  std::map<std::string, TensorId, std::less<>> inputs;
  for (TensorId id : graph.inputs) inputs.emplace(graph[id].name, id);
  for (TensorId id : graph.outputs) {
    const std::string_view name = graph[id].name;
    if (!name.ends_with(suffix)) continue;
    retained[std::size_t(id)] = true;
    const auto input = inputs.find(name.substr(0, name.size() - suffix.size()));
    if (input != inputs.end()) retained[std::size_t(input->second)] = true;
  }
  return retained;
}

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
