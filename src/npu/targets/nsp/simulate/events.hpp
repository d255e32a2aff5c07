// What a simulation is made of: a queue of events, noise, and what a device's work shares:
// bandwidth and the clock of a core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "npu/targets/nsp/target/shared_bandwidth.hpp"
#include "npuscope/base/units.hpp"

namespace npuscope::npu::nsp {

// What happens next: a heap of events ordered by time, then kind, then whom it concerns, never by
// when they were made. Events equal in all three are alike, so a run is repeatable.

// Simulated time: integer picoseconds from the start of the run.

inline double to_seconds(Picoseconds time) { return double(time.value) * 1e-12; }

enum class EventKind : std::uint32_t {
  submit,        // activation: the host hands over the next inference
  input,         // activation: the next input goes on the link
  output,        // activation: the output goes on the link
  completed,     // activation: the host sees an inference completed
  begin,         // activation: the next inference begins on the device
  dma_transfer,  // queue: its DMA engine begins a transfer
  task,          // queue: the next task starts
  main_task,     // queue: the same of an HMX that shares its thread, after transfers are issued
  thread_end,    // queue * threads + thread: its inference is over
  graph,         // activation: its session has readied the device for the graph
  leave,         // activation: its session is over
};

struct Event {
  Picoseconds time;
  std::uint32_t order = 0;  // kind << 28 | id

  Event() = default;
  Event(Picoseconds at, EventKind kind, std::uint32_t id)
      : time(at), order(std::uint32_t(kind) << 28 | id) {}
  EventKind kind() const { return EventKind(order >> 28); }
  std::uint32_t id() const { return order & 0x0fff'ffff; }
  bool operator>(const Event& other) const {
    return time != other.time ? time > other.time : order > other.order;
  }
};

class EventQueue {
 public:
  void push(Picoseconds time, EventKind kind, std::uint32_t id) {
    heap_.emplace_back(time, kind, id);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  Picoseconds next_time() const { return heap_.empty() ? never : heap_.front().time; }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  std::vector<Event> heap_;
};

// Counter-based randomness: a value depends on what it is for, never on when it is drawn, so that
// results do not depend on the order of events.

// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit changes half the output bits.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

template <class... Counters>
constexpr std::uint64_t key_of(std::uint64_t seed, Counters... counters) {
  std::uint64_t key = mix(seed);
  ((key = mix(key ^ std::uint64_t(counters))), ...);
  return key;
}

// Close to normal, mean 0, standard deviation 1, within +-3.47: the sum of four uniform variables
// (Irwin-Hall). Only additions and one product, hence the same bits on every machine.
constexpr double normal(std::uint64_t bits) {
  constexpr double square_root_of_3 = 1.7320508075688772;
  const std::int64_t sum =
      std::int64_t((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return double(sum - 2 * 0xffff) * (square_root_of_3 / 0xffff);
}

// Uses of the seed that must not share values.
enum class RandomUse : std::uint64_t {
  kernel = 1,
  core_clock,
  core_timer,
  activation,
  port,
  boot,
  session,
  pace,
  memory,
  host
};

// The clock of one core: its frequency, which a governor may change, and its cycle counter, the
// integral of the frequency.
//
// The governor looks at windows of fixed length. The frequency of a window follows from the share
// of the window before it in which HMX ran a kernel (its duty), where a kernel that takes less
// power counts for less:
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

  // HMX ran a kernel in [begin, end), at a power of 0 to 1 of the most; the part before this window
  // has been counted already.
  void add_hmx_time(Picoseconds begin, Picoseconds end, double power = 1) {
    begin = std::max(begin, window_begin_);
    end = std::min(end, window_end_);
    if (end > begin) hmx_time_ += power * double((end - begin).value);
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
  double cycles_ = 0;    // at window_begin_
  double hmx_time_ = 0;  // picoseconds at the highest power
  std::vector<Window> past_;
};

}  // namespace npuscope::npu::nsp
