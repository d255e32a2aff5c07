// Where tensors are: VTCM allocation with eviction, and how long each tensor is needed.
#include <algorithm>
#include <limits>

#include "npu/compile/place/residency.hpp"
#include "npu/compile/place/retained_state.hpp"

namespace npuscope::npu {
namespace {

// Tensors in VTCM at once, several times what real models need. Every allocation looks at all of
// them, so this keeps the cost of models with very many live tensors linear.
constexpr std::size_t max_resident = 512;

}  // namespace

Residency::Residency(const Graph& graph, const Target& target, const CompileOptions& options)
    : TaskWriter(graph, target, options),
      cuts_resident_(!target.session && (options.slices < 2 || options.cuts_slices)),
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
  if (lifetime == Lifetime::tensor && resident_.size() >= max_resident) evict_one();
  do {
    if (auto allocation = vtcm_.allocate(bytes, tasks_.next_buffer(), lifetime)) {
      for (std::uint32_t core = 0; core < cores_; ++core) {
        auto& max = metrics_.cores[core].vtcm_bytes;
        if (core_bytes[core] > 0) max = std::max(max, allocation->address + core_bytes[core]);
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

void Residency::spill(StorageId id, Spill::Cause cause) {
  write_back(id, cause);
  Storage& storage = storages_[id];
  release(storage.buffer);
  storage.buffer = BufferId::none;
  storage.pieces.reset();
  std::erase(resident_, id);
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
  operand.partition = needed;
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

// An output of the graph goes to DDR as soon as it is there: waiting would only hold its place.
void Residency::keep_result(const NodeResult& result) {
  Storage& storage = storages_[result.storage];
  storage.in_ddr = result.streamed;
  storage.ddr_layout = leaves_flat(result.storage) ? Layout::flat : storage.layout;
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
