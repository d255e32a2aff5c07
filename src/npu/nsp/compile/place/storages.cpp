#include "npu/nsp/compile/place/storages.hpp"

#include <algorithm>
#include <limits>

#include "npu/nsp/compile/place/retained_state.hpp"

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

}  // namespace npuscope::npu::nsp
