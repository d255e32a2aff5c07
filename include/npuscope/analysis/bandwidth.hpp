// Traffic over time, and by the size of its transfers.
//
//   const BandwidthSeries series = analysis.bandwidth(60);
//   series.bytes[size_t(Route::ddr_read)][7]    bytes in [begin + 7 width, begin + 8 width)
//
// A span's bytes are spread evenly over its duration; those of an instant lie in its bucket.
// Nothing is lost to rounding: the buckets of a route add up to its spans.
//
//   for (const TransferSize& size : analysis.transfers()) …
//   below 4 KiB: 12 transfers, 24,576 bytes, 9,000 ticks
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/traffic.hpp"

namespace npuscope::analysis {

struct BandwidthSeries {
  Interval timeline;
  std::int64_t width = 0;  // ticks of a bucket; the last one may reach beyond the timeline
  std::array<std::vector<std::int64_t>, route_count> bytes;  // empty: not known by span

  std::size_t buckets() const;
};

// Spans that carry bytes to or from DDR and do nothing else: those of DMA.
struct TransferSize {
  std::int64_t min = 0;    // bytes, inclusive
  std::int64_t below = 0;  // exclusive; 0: no end
  std::uint64_t transfers = 0;
  std::int64_t bytes = 0;
  std::int64_t ticks = 0;  // sum of their durations
};

inline constexpr std::int64_t small_transfer = 4096;  // bytes; below it the overhead dominates

}  // namespace npuscope::analysis
