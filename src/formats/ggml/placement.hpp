// When batches and what is in them happened, in picoseconds from the first of them, because the
// shortest ops take a few hundred nanoseconds.
//
//   const Placement placement(log);
//   placement.begin_of(1)            1,235,000,000    of the second batch
//   placement.time(1, run.start)     1,236,410,000    of an op in it
//
// The counter of cycles nearly stops while the NPU has nothing to do, so that it does not tell how
// long that was: a batch ends before the host printed it. What printing took is left out. Where the
// log has no such times, gaps are those of the counter, and too short.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/ggml/log.hpp"

namespace npuscope::ggml {

inline constexpr std::int64_t ticks_per_us = 1'000'000;
inline constexpr double ticks_per_s = 1e12;

class Placement {
 public:
  // Gives runs without a start of their own one: as they follow each other.
  explicit Placement(Log& log);

  std::int64_t begin_of(std::size_t batch) const { return places_[batch].time; }
  std::int64_t end_of(std::size_t batch) const { return time(batch, places_[batch].end); }
  // Cycles of the counter over the whole batch.
  std::int64_t cycles_of(std::size_t batch) const {
    return places_[batch].end - places_[batch].begin;
  }
  std::int64_t time(std::size_t batch, std::int64_t counter) const;
  bool has_print_times() const { return has_print_times_; }
  bool has_counter() const { return has_counter_; }
  std::int64_t printing_us() const { return printing_us_; }

 private:
  struct Place {
    std::int64_t begin = 0, end = 0;  // of the counter
    std::int64_t time = 0;            // ticks
    double ticks_per_cycle = 0;
  };
  void place_in_batch(Log& log, const Batch& batch, Place& place);

  std::vector<Place> places_;
  bool has_print_times_ = false, has_counter_ = true;
  std::int64_t printing_us_ = 0;
};

}  // namespace npuscope::ggml
