// Whether a log is of a simulator: it looks like that of hardware, but its times are those of the
// host that simulates, some thousand times the compiler's estimate.
//
//   SimulatorCheck check;
//   check.take(program_cycles, run_nanoseconds);   // of each run of a program
//   check.slowdown()                               // 18743; 0: of hardware, or not known
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace npuscope::torq {

// The rate at which the compiler's cycles are drawn: of the vendor's compile-time traces.
inline constexpr double compile_clock_mhz = 800;

class SimulatorCheck {
 public:
  // Of the program with the longest estimate the shortest run counts.
  void take(std::int64_t cycles, std::int64_t nanoseconds) {
    if (cycles < longest_ || cycles <= 0) return;
    shortest_run_ = cycles == longest_ ? std::min(shortest_run_, nanoseconds) : nanoseconds;
    longest_ = cycles;
  }

  std::uint64_t slowdown() const {
    // A slow start of a short program takes hardware some hundred microseconds.
    constexpr double min_ratio = 100, slow_start_ns = 3e6;
    const double estimate = double(longest_) / (compile_clock_mhz / 1e3);
    const auto run = double(shortest_run_);
    if (longest_ == 0 || run < slow_start_ns + min_ratio * estimate) return 0;
    return std::uint64_t(std::llround(std::min(run / estimate, 1e15)));
  }

 private:
  std::int64_t longest_ = 0;       // cycles
  std::int64_t shortest_run_ = 0;  // nanoseconds
};

}  // namespace npuscope::torq
