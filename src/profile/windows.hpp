// Sets of intervals cut into windows of time, for each core to look at some of them by itself:
//
//   const std::vector<Interval> windows = windows_of(extent, 100);
//   take_within(set, windows[3], [&](std::int64_t begin, std::int64_t end) { … });
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

// As many as give each core something to do whose times fit into its caches.
inline std::size_t windows_for(std::size_t intervals) {
  constexpr std::size_t intervals_a_window = 20'000, max_windows = 1'000;
  return std::clamp<std::size_t>(intervals / intervals_a_window, 1, max_windows);
}

// Windows of one length that tile the extent.
inline std::vector<Interval> windows_of(Interval extent, std::size_t count) {
  const auto length = __extension__ static_cast<unsigned __int128>(std::uint64_t(extent.end) -
                                                                   std::uint64_t(extent.begin));
  std::vector<Interval> windows;
  std::int64_t begin = extent.begin;
  for (std::size_t i = 1; i <= count; ++i) {
    const auto offset = std::uint64_t(length * i / count);
    const auto end = std::int64_t(std::uint64_t(extent.begin) + offset);
    if (end > begin) windows.push_back({begin, end});
    begin = end;
  }
  return windows;
}

// Hands over what of a set lies within the window, cut at its ends.
template <class Take>  // of the begin and the end
void take_within(const IntervalSet& set, Interval window, const Take& take) {
  auto at = std::upper_bound(set.begin(), set.end(), window.begin,
                             [](std::int64_t t, const Interval& each) { return t < each.end; });
  for (; at != set.end() && at->begin < window.end; ++at) {
    take(std::max(at->begin, window.begin), std::min(at->end, window.end));
  }
}

}  // namespace npuscope
