// What a device's work shares: the clock of a core, and bandwidth.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "npu/targets/nsp/simulate/events.hpp"

namespace npuscope::npu::nsp {

// Memory bandwidth shared by everyone who transfers: with n transfers active each gets
// min(limit of one, total / n). Processor sharing in virtual service time: all active transfers
// have received the same number of bytes since they began, so the one that ends next is the one
// with the smallest finishing service, and a change of n changes no order. O(log n) a transfer.
//
//   SharedBandwidth ddr(total, limit);
//   ddr.add(now, id, bytes);
//   while (ddr.next_end() != never) { now = ddr.next_end(); id = ddr.take(); }

class SharedBandwidth {
 public:
  // Bytes per second, both positive.
  SharedBandwidth(double total, double limit_of_one);

  void add(Picoseconds now, std::uint32_t id, std::uint64_t bytes);
  // When the next transfer ends if none is added before; never when there is none.
  Picoseconds next_end() const { return next_end_; }
  // Removes the transfer that ends at next_end(); of several at once the smallest id.
  std::uint32_t take();

 private:
  struct Transfer {
    double finishing_service;  // bytes
    std::uint32_t id;
  };
  static bool later(const Transfer& a, const Transfer& b);
  double rate() const;  // bytes per picosecond and transfer
  void serve_until(Picoseconds now);
  void find_next_end();

  double total_;
  double limit_of_one_;
  double service_ = 0;  // bytes each active transfer has received, since the server was last idle
  Picoseconds time_{};  // at which service_ holds
  Picoseconds next_end_ = never;
  std::vector<Transfer> transfers_;  // heap
};

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
