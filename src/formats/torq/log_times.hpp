// Times of a runtime log, which are whole microseconds, in the nanoseconds of a profile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

// Saturates: a forged log has times of any size.
constexpr std::int64_t to_nanoseconds(std::int64_t microseconds) {
  constexpr std::int64_t limit = std::numeric_limits<std::int64_t>::max() / 1000;
  return std::clamp(microseconds, -limit, limit) * 1000;
}

constexpr Interval to_nanoseconds(Interval microseconds) {
  return {to_nanoseconds(microseconds.begin), to_nanoseconds(microseconds.end)};
}

}  // namespace npuscope::torq
