// What lies in VTCM, split over the cores or repeated on each: buffers for tensors and tiles.
//
// Tensors whose slice is larger than two fifths of the VTCM stay in DDR and are streamed tile by
// tile; smaller ones stay in VTCM until their last use, or until something needed sooner pushes
// them out (spill).
#pragma once

#include <set>
#include <vector>

#include "npu/compile/place/ddr_copies.hpp"
#include "npu/compile/place/vtcm.hpp"

namespace npuscope::npu {

using Lifetime = VtcmAllocator::Lifetime;

class Residency {
 public:
  // `bytes` of every core's VTCM are there for it. Counts what it uses in `metrics`.
  Residency(const CompileContext& context, TaskWriter& writer, Storages& storages, DdrCopies& ddr,
            CompileMetrics& metrics, std::uint64_t bytes)
      : context_(context),
        writer_(writer),
        storages_(storages),
        ddr_(ddr),
        metrics_(metrics),
        vtcm_(bytes) {}

  // Pushes out what may go until there is room; a failure when there is none even then.
  BufferId allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  // None instead.
  BufferId try_allocate(const CoreBytes& core_bytes, Lifetime lifetime);
  void release(BufferId buffer);  // none is passed over

  // What the node at hand works on: nothing pushes it out. False: it is there already.
  bool pin(StorageId id) { return pinned_.insert(id).second; }
  void pin_only(std::set<StorageId> ids) { pinned_ = std::move(ids); }

  // The storage lies in its buffer from now on.
  void keep(StorageId id, BufferId buffer);
  // The buffer of a storage, which it loses to another.
  BufferId take_buffer(StorageId id);
  void use_done(TensorId tensor);
  void drop_if_unused(StorageId id);
  // To DDR, out of VTCM.
  void spill(StorageId id, Spill::Cause cause);
  // Whatever is needed last; false when nothing may go.
  bool evict_one();

  // In one piece, were everything gone that may go.
  std::uint64_t largest_room() const;
  // Whether a program like the one that has just been made would find its room beside so much.
  bool leaves_room_for(std::uint64_t bytes) const;

 private:
  const CompileContext& context_;
  TaskWriter& writer_;
  Storages& storages_;
  DdrCopies& ddr_;
  CompileMetrics& metrics_;
  VtcmAllocator vtcm_;
  std::vector<StorageId> resident_;  // storages with a buffer, oldest first
  std::set<StorageId> pinned_;
  std::uint64_t wanted_bytes_ = 0;  // for what there was no room last
};

}  // namespace npuscope::npu
