// The coarse view: where the wall time of a timeline went, in parts that add up to it.
//
//   const Coarse& coarse = analysis.coarse();
//   coarse.wall               64829   ticks of the base clock, first start to last end
//   coarse.parts              compute alone 31000, compute with data movement 12000, … idle 1773
//   coarse.work               68626   sum over units
//
// The parts partition the wall: every moment is in exactly one, by what runs in it. A wait counts
// only where nothing works.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

enum class Part : std::uint8_t {
  compute_alone,         // compute units work, nothing moves data
  compute_and_movement,  // both at once
  movement_alone,        // the compute units stand still meanwhile
  communication_alone,   // exchange with other devices that nothing of the above hides
  other_work,            // units of which the trace does not say what they are; no device work
  host_alone,            // only the host works
  waiting_for_dma,       // something waits for DMA, nothing works
  other_waiting,         // something waits, nothing works
  idle,                  // nothing is recorded
};
inline constexpr std::size_t part_count = 9;
const char* name_of(Part part);  // "compute alone"

struct Spread {
  std::uint64_t count = 0;
  double first = 0;
  double median_of_rest = 0;  // of the second to the last; of all where there is only one
  double median = 0;          // of all
  double min = 0;
  double max = 0;
};
// In the order of the samples; all zero without any.
Spread spread_of(const std::vector<double>& samples);

// Of the extents of inferences, by number.
Spread walls_of(const std::map<std::uint32_t, Interval>& inference_extents);
// The time in which any of them ran.
IntervalSet times_of(const std::map<std::uint32_t, Interval>& inference_extents);

struct Coarse {
  Interval timeline;
  std::int64_t wall = 0;
  std::int64_t active = 0;  // union of all work
  std::int64_t work = 0;    // sum of all work, nested slices once
  std::int64_t compute_active = 0;
  std::int64_t movement_active = 0;
  std::int64_t communication_active = 0;
  std::int64_t host_active = 0;
  std::int64_t parts[part_count] = {};
  std::uint64_t gaps = 0;        // intervals without work or wait
  std::int64_t longest_gap = 0;  // the longest of them
  Spread inferences;             // wall of each inference, where spans say of which they are
  // Whether anything has times: where only inferences have, nobody knows what ran in them.
  bool has_parts() const { return active > 0 || waiting() > 0; }
  std::int64_t waiting() const {
    return parts[std::size_t(Part::waiting_for_dma)] + parts[std::size_t(Part::other_waiting)];
  }
  // Batches one after another, each as long as the median of all but the first; where inferences
  // have spans of their own and the base clock's rate is known. Of a summary of one inference, by
  // its wall, where only that summary tells the rate.
  std::optional<double> inferences_per_second;
};

}  // namespace npuscope::analysis
