// Buffers in VTCM for tensors (split over the cores or repeated on each) and tiles.
//
// Tensors whose slice is larger than two fifths of the VTCM stay in DDR and are streamed tile by
// tile; smaller ones stay in VTCM until their last use, or until something needed sooner pushes
// them out (spill).
#pragma once

#include <set>
#include <vector>

#include "npu/targets/nsp/compile/place/storages.hpp"
#include "npu/targets/nsp/compile/place/vtcm.hpp"

namespace npuscope::npu::nsp {

using Lifetime = VtcmAllocator::Lifetime;

class Residency {
 public:
  // `bytes`: size of each core's VTCM without that of constants. Counts in `metrics`.
  Residency(const CompileContext& context, TaskWriter& writer, Storages& storages, DdrCopies& ddr,
            CompileMetrics& metrics, std::uint64_t bytes)
      : context_(context),
        writer_(writer),
        storages_(storages),
        ddr_(ddr),
        metrics_(metrics),
        vtcm_(bytes) {}

  // Spills unpinned tensors until the buffer fits; LoweringFailure when it never does.
  BufferId allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  // The same, BufferId::none instead of a failure.
  BufferId try_allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  void release(BufferId buffer);  // BufferId::none: no effect

  // Storages of the current node, never spilled for another. False: already pinned.
  bool pin(StorageId id) { return pinned_.insert(id).second; }
  void pin_only(std::set<StorageId> ids) { pinned_ = std::move(ids); }

  // Gives the storage its buffer.
  void keep(StorageId id, BufferId buffer);
  // Takes the buffer from the storage, for another.
  BufferId take_buffer(StorageId id);
  void use_done(TensorId tensor);
  void drop_if_unused(StorageId id);
  // Moves it from VTCM to DDR.
  void spill(StorageId id, Spill::Cause cause);
  // Spills the unpinned tensor with the farthest next use; false when there is none.
  bool evict_one();

  // The largest gap without the unpinned tensors.
  std::uint64_t largest_free_bytes() const;
  // Whether the finished program would also fit into a VTCM with so many bytes less.
  bool has_space_for(std::uint64_t bytes) const;

 private:
  const CompileContext& context_;
  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  CompileMetrics& metrics_;
  VtcmAllocator vtcm_;
  std::vector<StorageId> resident_;  // storages with a buffer, oldest first
  std::set<StorageId> pinned_;
  std::uint64_t wanted_bytes_ = 0;  // of the last allocation that did not fit
};

}  // namespace npuscope::npu::nsp
