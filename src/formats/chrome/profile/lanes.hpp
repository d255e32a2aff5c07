// Which slices of a thread nest, and where to put those that do not: a slice that overlaps one
// before it without lying within it goes to another lane beside the thread.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/events.hpp"

namespace npuscope::chrome {

struct Lanes {
  std::vector<std::uint16_t> lane;        // by slice; empty when all are in lane 0
  std::vector<std::uint32_t> lane_count;  // by thread; 0: no slice
  std::uint64_t moved = 0;                // slices in other lanes than the first
};

// Slices in the order of thread, start, and longest first; ties in file order. Empty when they
// stand in the file in an order in which a slice never comes before one of its thread that encloses
// it or starts earlier.
std::vector<std::uint32_t> nesting_order(const Slices& slices, std::size_t threads);

Lanes assign_lanes(const Slices& slices, std::size_t threads,
                   const std::vector<std::uint32_t>& order);

}  // namespace npuscope::chrome
