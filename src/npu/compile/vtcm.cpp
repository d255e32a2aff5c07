#include "npu/compile/vtcm.hpp"

#include <algorithm>

namespace npuscope::npu {

VtcmAllocator::VtcmAllocator(std::uint64_t capacity_bytes) : capacity_(capacity_bytes) {}

std::optional<std::uint64_t> VtcmAllocator::find_gap(std::uint64_t bytes,
                                                     std::uint64_t from) const {
  std::uint64_t begin = from;
  auto next = live_.lower_bound(from);
  if (next != live_.begin()) begin = std::max(begin, std::prev(next)->second);
  for (; next != live_.end(); ++next) {
    if (next->first >= begin + bytes) break;
    begin = next->second;
  }
  if (begin + bytes > capacity_) return std::nullopt;
  return begin;
}

std::optional<std::uint64_t> VtcmAllocator::find_highest_gap(std::uint64_t bytes) const {
  std::uint64_t end = capacity_;
  for (auto next = live_.rbegin(); next != live_.rend(); ++next) {
    if (end - next->second >= bytes) break;
    end = next->first;
  }
  if (end < bytes) return std::nullopt;
  return (end - bytes) / alignment * alignment;
}

std::optional<VtcmAllocator::Allocation> VtcmAllocator::allocate(std::uint64_t bytes,
                                                                 std::uint32_t owner,
                                                                 Lifetime lifetime) {
  const std::uint64_t size =
      std::max<std::uint64_t>((bytes + alignment - 1) / alignment * alignment, alignment);
  if (size > capacity_) return std::nullopt;
  std::optional<std::uint64_t> begin;
  if (lifetime == Lifetime::tile) begin = find_gap(size, next_);
  if (lifetime == Lifetime::tensor && size >= capacity_ / 8) begin = find_highest_gap(size);
  if (!begin) begin = find_gap(size, 0);
  if (!begin) return std::nullopt;
  live_.emplace(*begin, *begin + size);
  live_bytes_ += size;
  if (lifetime == Lifetime::tile) next_ = *begin + size;
  return Allocation{*begin, take_over(*begin, *begin + size, owner)};
}

void VtcmAllocator::release(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  live_bytes_ -= found->second - found->first;
  live_.erase(found);
}

std::uint64_t VtcmAllocator::largest_gap_without(
    const std::vector<std::uint64_t>& addresses) const {
  std::uint64_t largest = 0, begin = 0;
  for (const auto& [address, end] : live_) {
    if (std::binary_search(addresses.begin(), addresses.end(), address)) continue;
    largest = std::max(largest, address - begin);
    begin = end;
  }
  return std::max(largest, capacity_ - begin);
}

std::vector<std::uint32_t> VtcmAllocator::take_over(std::uint64_t begin, std::uint64_t end,
                                                    std::uint32_t owner) {
  std::vector<std::uint32_t> predecessors;
  auto it = last_owner_.upper_bound(begin);
  if (it != last_owner_.begin()) --it;
  while (it != last_owner_.end() && it->first < end) {
    const std::uint64_t region_begin = it->first;
    const Region region = it->second;
    if (region.end <= begin) {
      ++it;
      continue;
    }
    predecessors.push_back(region.owner);
    it = last_owner_.erase(it);
    if (region_begin < begin) last_owner_.emplace(region_begin, Region{begin, region.owner});
    if (region.end > end) it = last_owner_.emplace(end, Region{region.end, region.owner}).first;
  }
  last_owner_.emplace(begin, Region{end, owner});
  std::sort(predecessors.begin(), predecessors.end());
  predecessors.erase(std::unique(predecessors.begin(), predecessors.end()), predecessors.end());
  return predecessors;
}

}  // namespace npuscope::npu
