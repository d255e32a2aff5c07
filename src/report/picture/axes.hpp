// Axes: where a value lies on one, the round values that it is marked at, and times on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

// Where a value lies on an axis, and the round values that an axis is marked at.
//
//   const Scale scale = log_scale(0.3, 420, 80, 900);
//   scale.at(1)                  172.4: pixels
//   log_marks(0.3, 420)          {1, 10, 100}
//   round_marks(0, 64829, 5)     {0, 20000, 40000, 60000}
struct Scale {
  double low = 0, high = 1;    // of the values; above zero on a logarithmic one
  double first = 0, last = 1;  // pixels of low and high
  bool logarithmic = false;

  double at(double value) const;  // a value beyond an end lies at that end
};

// With room for the marks at both ends: from a power of ten to a power of ten. Values that are not
// above zero have no place on it and lie at its low end.
Scale log_scale(double low, double high, double first, double last);

// 1, 2 or 5 times a power of ten, at least `min`, which is above zero.
double round_step(double min);

// At most `max` (two at least) round values from low to high.
std::vector<double> round_marks(double low, double high, std::size_t max);

// The powers of ten from low to high; also 2 and 5 times them where there are less than three.
std::vector<double> log_marks(double low, double high);

// The time axis of a timeline: round times with short texts, in one unit.
//
//   const TimelineAxis axis = make_axis(profile, {22, 64851}, 22, 4);
//   axis.unit       "cycles"
//   axis.marks      {22, "0"} {20022, "20,000"} {40022, "40,000"} {60022, "60,000"}
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
