#include "npu/targets/nsp/compile/place/residency.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {
namespace {

// Tensors in VTCM at once, several times what real models need. Every allocation looks at all of
// them, so this keeps the cost of models with very many live tensors linear.
constexpr std::size_t max_resident = 512;

}  // namespace

BufferId Residency::try_allocate(const CoreBytes& core_bytes, Lifetime lifetime) {
  const std::uint64_t bytes = largest(core_bytes);
  if (lifetime == Lifetime::tensor && resident_.size() >= max_resident) evict_one();
  TaskGraph& tasks = writer_.tasks();
  do {
    if (auto allocation = vtcm_.allocate(bytes, tasks.next_buffer(), lifetime)) {
      for (std::uint32_t core = 0; core < context_.cores; ++core) {
        auto& peak = metrics_.cores[core].vtcm_bytes;
        if (core_bytes[core] > 0) peak = std::max(peak, allocation->address + core_bytes[core]);
      }
      return tasks.add_buffer(bytes, std::move(*allocation));
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
                  writer_.node_text(), largest(core_bytes), context_.target.name)};
}

void Residency::release(BufferId buffer) {
  if (buffer == BufferId::none) return;
  vtcm_.release(writer_.tasks().buffer_address(buffer));
}

void Residency::keep(StorageId id, BufferId buffer) {
  storages_[id].buffer = buffer;
  resident_.push_back(id);
}

BufferId Residency::take_buffer(StorageId id) {
  const BufferId buffer = std::exchange(storages_[id].buffer, BufferId::none);
  std::erase(resident_, id);
  return buffer;
}

void Residency::use_done(TensorId tensor) {
  const StorageId id = storages_.of(tensor);
  if (id == no_storage) return;
  --storages_[id].uses;
  drop_if_unused(id);
}

void Residency::drop_if_unused(StorageId id) {
  const Storage& storage = storages_[id];
  const std::int64_t needed = storage.in_ddr && storage.ddr_layout == Layout::flat
                                  ? storage.uses - storage.output_uses
                                  : storage.uses;
  if (needed <= 0 && storage.buffer != BufferId::none) release(take_buffer(id));
}

void Residency::spill(StorageId id, Spill::Cause cause) {
  ddr_.write_back(id, cause, cause == Spill::Cause::pushed_out ? wanted_bytes_ : 0);
  release(take_buffer(id));
  storages_[id].pieces.reset();
}

bool Residency::evict_one() {
  StorageId victim = no_storage;
  std::size_t farthest = 0;
  for (StorageId id : resident_) {
    if (pinned_.contains(id)) continue;
    const std::size_t use = storages_.next_use(id, writer_.position());
    if (victim == no_storage || use > farthest) {
      victim = id;
      farthest = use;
    }
  }
  if (victim == no_storage) return false;
  spill(victim, Spill::Cause::pushed_out);
  return true;
}

std::uint64_t Residency::largest_free_bytes() const {
  std::vector<std::uint64_t> may_go;
  for (StorageId id : resident_) {
    if (pinned_.contains(id)) continue;
    may_go.push_back(writer_.tasks().buffer_address(storages_[id].buffer));
  }
  std::sort(may_go.begin(), may_go.end());
  return vtcm_.largest_gap_without(may_go);
}

// Transfers run ahead of the work by as many tiles as there is room for: were that taken away, time
// would be lost for traffic.
bool Residency::has_space_for(std::uint64_t bytes) const {
  constexpr std::uint64_t tiles_ahead = 4;
  return vtcm_.peak_live_bytes() + bytes + tiles_ahead * context_.tile_bytes <= vtcm_.capacity();
}

}  // namespace npuscope::npu::nsp
