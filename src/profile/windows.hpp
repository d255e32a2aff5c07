// Sets of intervals cut into windows of time, for each core to look at some of them by itself:
//
//   const std::vector<Interval> windows = windows_of(sets);
//   take_within(set, windows[3], [&](std::int64_t begin, std::int64_t end) { … });
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

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

// Windows that tile what the sets reach over, as many as give each core something to do whose times
// fit into its caches; none where the sets are empty.
inline std::vector<Interval> windows_of(std::span<const IntervalSet* const> sets) {
  constexpr std::size_t intervals_a_window = 20'000, max_windows = 1'000;
  Interval extent{std::numeric_limits<std::int64_t>::max(),
                  std::numeric_limits<std::int64_t>::min()};
  std::size_t intervals = 0;
  for (const IntervalSet* set : sets) {
    if (set->empty()) continue;
    extent.begin = std::min(extent.begin, set->front().begin);
    extent.end = std::max(extent.end, set->back().end);
    intervals += set->size();
  }
  if (intervals == 0) return {};
  return windows_of(extent,
                    std::clamp<std::size_t>(intervals / intervals_a_window, 1, max_windows));
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
