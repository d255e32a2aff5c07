// Why one schedule of a program takes longer than another, where a compiler states what it does:
// the wall is the time in which anything computes, the time in which data moves and nothing
// computes, and the time in which no unit is at work.
//
//   const auto change = find_schedule_change(comparison);
//   change->parts[0]      // exposed_transfer: 2721 -> 8421 cycles, of a wall 17352 -> 23046
//   change->numbers[0]    // LRAM bytes in use: 41.5 -> 37.0 KiB
#pragma once

#include <optional>
#include <vector>

#include "npuscope/analysis/compare.hpp"

namespace npuscope::analysis {

struct SchedulePart {
  enum class What : std::uint8_t { compute, exposed_transfer, idle };
  What what = What::compute;
  double a = 0, b = 0;
  double delta() const { return b - a; }
};

struct ScheduleChange {
  bool is_of_estimates = false;  // of runs whose walls are measured
  MeasuredIn unit = MeasuredIn::cycles;
  double wall_a = 0, wall_b = 0;
  std::vector<SchedulePart> parts{};        // that add up to the wall, the largest change first
  double transfers_a = 0, transfers_b = 0;  // in which data moves, exposed or not
  // Bytes that the transfers move; none where a side does not say.
  std::optional<double> bytes_a{}, bytes_b{};
  double work_a = 0, work_b = 0;  // sums over the units
  // What the compilers state beyond times, and bytes moved, where it changed: pointers into the
  // comparison.
  std::vector<const MetricChange*> numbers{};

  double wall_delta() const { return wall_b - wall_a; }
};

// Of runs that were measured by what their compilers estimate of them. None where the walls are the
// same, or a side does not state its schedule.
std::optional<ScheduleChange> find_schedule_change(const Comparison& comparison);

}  // namespace npuscope::analysis
