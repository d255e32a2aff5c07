// The "dominant path" of QNN's QHAS: a share of the wall time by rank, not a path of dependencies.
// At every instant one running span owns the time: an HMX op before an HVX op before everything
// else (DMA, waits, synchronisation); among equals the lowest thread id, then the earliest start.
//
//   HVX 512   |---- a ----|            a: 5 cycles (0-3, 6-8)
//   HMX 256       |- b -|              b: 3 cycles
//   HVX 514   |------ c ------|        c: 1 cycle, after a has ended
//             0   3     6 8   9
//
// The rule was found by trying it on real files, where it gives every row of QHAS.
//
//   for (const OwnedTime& time : dominant_path_of(profile)[0].times) …   // of core 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct OwnedSpan {
  std::int64_t start = 0;
  std::int64_t end = 0;  // not before start
  std::int64_t tid = 0;
  std::uint8_t rank = 2;  // 0: HMX, 1: HVX, 2: everything else
};

// A stretch of time with one owner; `idle` where no span runs between two that do.
struct OwnedTime {
  static constexpr std::size_t idle = std::size_t(-1);
  std::size_t owner = idle;  // index of the span
  std::int64_t start = 0;
  std::int64_t end = 0;
};

// Who owns each instant from the first start to the last end, in order of time; neighbours differ.
// O(n log n).
std::vector<OwnedTime> owners_of(std::span<const OwnedSpan> spans);

// Of the spans of one core; the owner of a time is a row of the profile's spans.
struct CoreOwners {
  std::uint32_t core = 0;
  std::vector<OwnedTime> times;
};

// Of all spans: rank by the engine that their op uses, thread id by the lane of their unit. Cores
// in ascending order, those with spans.
std::vector<CoreOwners> dominant_path_of(const Profile& profile);

}  // namespace npuscope
