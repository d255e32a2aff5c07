// Sets that grow in the order of time.
#pragma once

#include <algorithm>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

// Appends an interval that begins no earlier than the last one of the set; an empty one not.
inline void append(IntervalSet& set, Interval interval) {
  if (interval.begin >= interval.end) return;
  if (set.empty() || interval.begin > set.back().end) {
    set.push_back(interval);
  } else {
    set.back().end = std::max(set.back().end, interval.end);
  }
}

}  // namespace npuscope
