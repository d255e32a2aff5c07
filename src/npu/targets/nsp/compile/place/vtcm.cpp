#include "npu/targets/nsp/compile/place/vtcm.hpp"

#include <algorithm>

namespace npuscope::npu::nsp {

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

std::uint64_t VtcmAllocator::last_use(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t last = 0;
  auto region = last_owner_.upper_bound(begin);
  if (region != last_owner_.begin()) --region;
  for (; region != last_owner_.end() && region->first < end; ++region) {
    if (region->second.end > begin) last = std::max(last, region->second.used);
  }
  return last;
}

struct VtcmAllocator::Choice {
  std::optional<std::uint64_t> begin;
  std::uint64_t used = 0;
};

void VtcmAllocator::consider(std::uint64_t begin, std::uint64_t bytes, Choice& best) const {
  const std::uint64_t used = last_use(begin, begin + bytes);
  if (!best.begin || used < best.used) best = {begin, used};
}

std::optional<std::uint64_t> VtcmAllocator::choose(std::uint64_t bytes, Lifetime lifetime) const {
  constexpr int max_gaps = 8;  // compared with one another
  const bool large = lifetime == Lifetime::tensor && bytes >= capacity_ / 8;
  Choice best;
  if (lifetime == Lifetime::tile) {
    if (const auto next = find_gap(bytes, next_)) consider(*next, bytes, best);
  }
  std::uint64_t end = capacity_;
  int gaps = 0;
  for (auto next = live_.rbegin(); gaps < max_gaps; ++next) {
    const std::uint64_t begin = next == live_.rend() ? 0 : next->second;
    if (end >= begin + bytes) {
      ++gaps;
      if (large) consider((end - bytes) / alignment * alignment, bytes, best);
      consider(begin, bytes, best);
    }
    if (next == live_.rend()) break;
    end = next->first;
  }
  return best.begin;
}

std::optional<VtcmAllocator::Allocation> VtcmAllocator::allocate(std::uint64_t bytes,
                                                                 std::uint32_t owner,
                                                                 Lifetime lifetime) {
  const std::uint64_t size =
      std::max<std::uint64_t>((bytes + alignment - 1) / alignment * alignment, alignment);
  if (size > capacity_) return std::nullopt;
  const auto begin = choose(size, lifetime);
  if (!begin) return std::nullopt;
  ++steps_;
  live_.emplace(*begin, *begin + size);
  live_bytes_ += size;
  peak_live_bytes_ = std::max(peak_live_bytes_, live_bytes_);
  if (lifetime == Lifetime::tile) next_ = *begin + size;
  return Allocation{*begin, take_over(*begin, *begin + size, owner)};
}

void VtcmAllocator::release(std::uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end()) return;
  ++steps_;
  const std::uint64_t end = found->second;
  for (auto region = last_owner_.lower_bound(address);
       region != last_owner_.end() && region->first < end; ++region) {
    region->second.used = steps_;
  }
  live_bytes_ -= end - address;
  live_.erase(found);
}

std::uint64_t VtcmAllocator::largest_gap_without(
    const std::vector<std::uint64_t>& addresses) const {
  std::uint64_t largest = 0, begin = 0;
  for (const auto& [address, end] : live_) {
    if (std::ranges::binary_search(addresses, address)) continue;
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
    if (region_begin < begin) {
      last_owner_.emplace(region_begin, Region{begin, region.owner, region.used});
    }
    if (region.end > end) {
      it = last_owner_.emplace(end, Region{region.end, region.owner, region.used}).first;
    }
  }
  last_owner_.emplace(begin, Region{end, owner, steps_});
  std::ranges::sort(predecessors);
  predecessors.erase(std::unique(predecessors.begin(), predecessors.end()), predecessors.end());
  return predecessors;
}

}  // namespace npuscope::npu::nsp
