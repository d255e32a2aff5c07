// The clock of one core: its frequency, which a governor may change, and its cycle counter, the
// integral of the frequency.
//
// The governor looks at windows of fixed length. The frequency of a window follows from the share
// of the window before it in which HMX ran a kernel (its duty):
//
//   frequency = highest - (highest - lowest) * duty
//
// A kernel that outlasts its window goes on in the next one at that window's frequency. Within a
// window everything is known; what lies beyond it is not.
#pragma once

#include <algorithm>
#include <vector>

#include "npu/targets/nsp/simulate/events.hpp"

namespace npuscope::npu::nsp {

class CoreClock {
 public:
  // Hertz; highest == lowest is a fixed clock, whose only window never ends.
  CoreClock(double highest, double lowest, Picoseconds window);

  double hertz() const { return hertz_; }
  Picoseconds window_end() const { return window_end_; }

  // The cycle counter at a time not after the window's end and not before the last forget().
  double cycles_at(Picoseconds time) const {
    return time >= window_begin_ ? cycles_ + double((time - window_begin_).value) * cycles_per_ps_
                                 : past_cycles_at(time);
  }

  // Runs `remaining` cycles from `position` on, to the window's end at most: both are moved on.
  // True when none remain; `position` is then the end.
  bool run(double& remaining, Picoseconds& position) const {
    if (position < window_begin_) run_in_past(remaining, position);
    const Picoseconds end = position + picoseconds(remaining * ps_per_cycle_);
    if (end <= window_end_) {
      remaining = 0;
      position = end;
      return true;
    }
    if (position < window_end_) {
      remaining -= double((window_end_ - position).value) * cycles_per_ps_;
      if (remaining < 0) remaining = 0;
      position = window_end_;
    }
    return false;
  }

  // HMX ran a kernel in [begin, end); the part before this window has been counted already.
  void add_hmx_time(Picoseconds begin, Picoseconds end) {
    begin = std::max(begin, window_begin_);
    end = std::min(end, window_end_);
    if (end > begin) hmx_time_ += end - begin;
  }

  // Goes on to the next window; true when the frequency changed.
  bool next_window();
  // Lets this window last longer by whole windows; right only when nothing changes in them.
  void extend_window(std::int64_t windows);
  // Another frequency from `time` on, which is not before this window; only of a fixed clock.
  void change(Picoseconds time, double hertz);
  // Drops the history before this window.
  void forget() { past_.clear(); }

 private:
  struct Window {
    Picoseconds begin;
    double cycles;
    double cycles_per_ps;
  };
  double past_cycles_at(Picoseconds time) const;
  void run_in_past(double& remaining, Picoseconds& position) const;
  void set_hertz(double hertz);

  double highest_;
  double lowest_;
  Picoseconds window_;
  double hertz_ = 0;
  double cycles_per_ps_ = 0;
  double ps_per_cycle_ = 0;
  Picoseconds window_begin_{};
  Picoseconds window_end_ = never;
  double cycles_ = 0;  // at window_begin_
  Picoseconds hmx_time_{};
  std::vector<Window> past_;
};

}  // namespace npuscope::npu::nsp
