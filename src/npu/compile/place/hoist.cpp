// Constants that stay in VTCM: read from DDR once, before the first inference.
#include <algorithm>

#include "npu/compile/place/residency.hpp"

namespace npuscope::npu {

void Residency::hoist_into(std::uint64_t bytes) {
  const std::uint64_t room = bytes / VtcmAllocator::alignment * VtcmAllocator::alignment;
  hoist_at_ = vtcm_.capacity() - room;
  hoist_left_ = room;
  vtcm_ = VtcmAllocator(hoist_at_);
}

// Transfers run ahead of the work by as many tiles as there is room for: were that taken away, time
// would be lost for traffic.
bool Residency::leaves_room_for(std::uint64_t hoisted) const {
  constexpr std::uint64_t tiles_ahead = 4;
  const bool spills = !log_.empty();
  return !spills &&
         vtcm_.max_live_bytes() + hoisted + tiles_ahead * tile_bytes_ <= vtcm_.capacity();
}

BufferId Residency::hoist(TensorId id, std::uint64_t part, std::uint64_t parts,
                          const CoreBytes& core_bytes) {
  const auto known = hoisted_.find({id, part, parts});
  if (known != hoisted_.end()) {
    return known->second.core_bytes == core_bytes ? known->second.buffer : BufferId::none;
  }
  const std::uint64_t bytes =
      round_up(std::max<std::uint64_t>(*std::max_element(core_bytes.begin(), core_bytes.end()), 1),
               VtcmAllocator::alignment);
  if (bytes > hoist_left_) return BufferId::none;
  const BufferId buffer = tasks_.add_buffer(bytes, {hoist_at_, {}});
  for (std::uint32_t core = 0; core < cores_; ++core) {
    if (core_bytes[core] == 0) continue;
    metrics_.cores[core].hoisted_bytes += core_bytes[core];
    auto& max = metrics_.cores[core].vtcm_bytes;
    max = std::max(max, hoist_at_ + core_bytes[core]);
  }
  hoist_at_ += bytes;
  hoist_left_ -= bytes;
  hoisted_.emplace(std::tuple(id, part, parts), Hoisted{core_bytes, buffer});
  return buffer;
}

}  // namespace npuscope::npu
