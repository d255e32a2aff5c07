// Where a value lies on an axis, and the round values that an axis is marked at.
//
//   const Scale scale = log_scale(0.3, 420, 80, 900);
//   scale.at(1)                  172.4: pixels
//   log_marks(0.3, 420)          {1, 10, 100}
//   round_marks(0, 64829, 5)     {0, 20000, 40000, 60000}
#pragma once

#include <cstddef>
#include <vector>

namespace npuscope::report {

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

}  // namespace npuscope::report
