// The time axis of a timeline: round times with short texts, in one unit.
//
//   const TimelineAxis axis = make_axis(profile, {22, 64851}, 22, 4);
//   axis.unit       "cycles"
//   axis.marks      {22, "0"} {20022, "20,000"} {40022, "40,000"} {60022, "60,000"}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

struct TimelineMark {
  std::int64_t time = 0;  // ticks of the base clock
  std::string text;       // in `unit`, after the origin
};

struct TimelineAxis {
  std::string unit;  // "cycles", "thousand cycles", "us"
  std::vector<TimelineMark> marks;
};

// At most `most` marks within the window, ends included, at 1, 2 or 5 times a power of ten.
TimelineAxis make_axis(const Profile& profile, Interval window, std::int64_t origin,
                       std::size_t max);

}  // namespace npuscope::report
