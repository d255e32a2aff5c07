// The core's clock out of what the log states: cycles are exact, microseconds are cut to whole
// ones, so each record holds the clock between two bounds, and many records that have one clock
// hold it between narrow ones.
//
//   ClockBounds clock;
//   clock.add(1083787, 513);   // cycles, usec: 2108 to 2113 cycles a microsecond
//   clock.add(892524, 422);    // and 2110 to 2115
//   clock.middle()             // 2111.4
//   clock.error()              // 0.0006
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace npuscope::ggml {

class ClockBounds {
 public:
  void add(std::uint64_t cycles, std::uint64_t usec) {
    if (cycles == 0) return;
    low_ = std::max(low_, double(cycles) / (double(usec) + 1 + slack));
    if (usec > 0) high_ = std::min(high_, double(cycles) / (double(usec) - slack));
    cycles_ += double(cycles);
    usec_ += double(usec) + 0.5;  // what is cut is half a microsecond in the mean
  }
  void add(const ClockBounds& other) {
    low_ = std::max(low_, other.low_);
    high_ = std::min(high_, other.high_);
    cycles_ += other.cycles_;
    usec_ += other.usec_;
  }
  bool any() const { return cycles_ > 0; }
  // Whether one clock fits all records.
  bool fits() const { return low_ <= high_; }
  double middle() const {
    const bool is_bounded = fits() && high_ < std::numeric_limits<double>::max();
    return is_bounded ? (low_ + high_) / 2 : usec_ > 0 ? cycles_ / usec_ : 0;
  }
  double error() const { return fits() && middle() > 0 ? (high_ - low_) / 2 / middle() : 0.5; }

 private:
  static constexpr double slack = 0.06;  // a tick of the 19.2 MHz timer, in microseconds
  double low_ = 0, high_ = std::numeric_limits<double>::max();
  double cycles_ = 0, usec_ = 0;
};

}  // namespace npuscope::ggml
