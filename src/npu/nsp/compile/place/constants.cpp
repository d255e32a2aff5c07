#include "npu/nsp/compile/place/constants.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

void Constants::count(TensorId id, std::uint64_t bytes, std::uint64_t d32_bytes) {
  if (!counted_.insert(id).second) return;
  metrics_.constant_bytes += bytes;
  metrics_.d32_constant_bytes += d32_bytes;
}

BufferId Constants::keep(TensorId id, std::uint64_t part, std::uint64_t parts,
                         const CoreBytes& core_bytes) {
  const auto known = kept_.find({id, part, parts});
  if (known != kept_.end()) {
    return known->second.core_bytes == core_bytes ? known->second.buffer : BufferId::none;
  }
  const std::uint64_t bytes =
      round_up(std::max<std::uint64_t>(largest(core_bytes), 1), VtcmAllocator::alignment);
  if (bytes > left_) return BufferId::none;
  const BufferId buffer = tasks_.add_buffer(bytes, {next_address_, {}});
  for (std::uint32_t core = 0; core < context_.cores; ++core) {
    if (core_bytes[core] == 0) continue;
    metrics_.cores[core].hoisted_bytes += core_bytes[core];
    auto& peak = metrics_.cores[core].vtcm_bytes;
    peak = std::max(peak, next_address_ + core_bytes[core]);
  }
  next_address_ += bytes;
  left_ -= bytes;
  kept_.emplace(std::tuple(id, part, parts), Kept{core_bytes, buffer});
  return buffer;
}

}  // namespace npuscope::npu::nsp
