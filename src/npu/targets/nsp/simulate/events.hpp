// What happens next: a heap of events ordered by time, then kind, then whom it concerns, never by
// when they were made. Events equal in all three are alike, so a run is repeatable.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "npuscope/base/units.hpp"

namespace npuscope::npu::nsp {

// Simulated time: integer picoseconds from the start of the run.

inline constexpr Picoseconds never{std::numeric_limits<std::int64_t>::max()};
// 11.6 days. A run that gets here has a senseless rate in its target; sums of a few times below it
// cannot overflow.
inline constexpr Picoseconds time_limit{1'000'000'000'000'000'000};

// Rounded to the nearest picosecond; nothing is longer than the limit, which stops the run.
inline Picoseconds picoseconds(double value) {
  if (!(value > 0)) return {};
  return value < double(time_limit.value) ? Picoseconds{std::llrint(value)} : time_limit;
}
inline Picoseconds from_seconds(double seconds) { return picoseconds(seconds * 1e12); }
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
  session
};

}  // namespace npuscope::npu::nsp
