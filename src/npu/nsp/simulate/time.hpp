// Simulated time: integer picoseconds from the start of the run.
#pragma once

#include <cmath>
#include <limits>

#include "npuscope/base/units.hpp"

namespace npuscope::npu::nsp {

inline constexpr Picoseconds never{std::numeric_limits<std::int64_t>::max()};
// 11.6 days. A run that gets here has a senseless rate in its target; sums of a few times below it
// cannot overflow.
inline constexpr Picoseconds time_limit{1'000'000'000'000'000'000};

// Rounded to the nearest picosecond; nothing is longer than the limit, which stops the run.
inline Picoseconds picoseconds(double value) {
  if (!(value > 0)) return {};
  return value < double(time_limit.value) ? Picoseconds{std::llrint(value)} : time_limit;
}
inline Picoseconds from_seconds(double seconds) { return picoseconds(seconds * 1e12); }
inline double to_seconds(Picoseconds time) { return double(time.value) * 1e-12; }

}  // namespace npuscope::npu::nsp
