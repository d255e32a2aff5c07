// The lanes of a trace's threads (ingest/lanes.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/events.hpp"
#include "ingest/lanes.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

struct Lanes {
  std::vector<std::uint16_t> lane;        // by slice; empty when all are in lane 0
  std::vector<std::uint32_t> lane_count;  // by thread; 0: no slice
  std::uint64_t moved = 0;                // slices in other lanes than the first
  std::uint64_t outlasting = 0;           // within another though they end after it
  std::uint64_t early = 0;                // after another though they begin before its end
};

// The steps in which the file states times, in thousandths of its unit: 1'000 where it states whole
// ones, else 1.
std::int64_t resolution_of(const Slices& slices);

// Slices in the order of thread, start, and longest first; ties in file order. Empty when they
// stand in the file in an order in which a slice never comes before one of its thread that encloses
// it or starts earlier.
std::vector<std::uint32_t> nesting_order(const Slices& slices, std::size_t threads);

Lanes assign_lanes(const Slices& slices, std::size_t threads,
                   const std::vector<std::uint32_t>& order, std::int64_t resolution);

// The units of a generic trace: one for each process, one for each lane of its threads.
struct UnitTable {
  // By thread. A thread's further lanes follow its first.
  std::vector<UnitId> process;
  std::vector<UnitId> first_lane;

  UnitId lane(std::uint32_t thread, std::uint32_t lane) const {
    return UnitId(index_of(first_lane[thread]) + lane);
  }
};

UnitTable make_units(const Events& events, const std::vector<std::uint32_t>& lane_count,
                     Profile& profile);

}  // namespace npuscope::chrome
