// What ran when, and how long what ran at once: all that an overview says, from one pass.
//
//   RunTimes times({{{0, 4}, doing(Doing::hal)}, {{2, 6}, doing(Doing::host)}});
//   times.length([](std::uint32_t d) { return is(d, Doing::hal) && !is(d, Doing::host); })    // 2
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "formats/torq/debug/debug_info.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

// Bits after those of the units (NpuUnit).
// Host pending: programs of the host as the vendor's tools follow them, one at a time.
enum class Doing : std::uint32_t {
  program = npu_unit_count,
  hal,
  host,
  host_copy,
  host_pending,
  seen,
};
inline constexpr std::size_t doing_bits = std::size_t(Doing::seen) + 1;

constexpr std::uint32_t doing(Doing what) { return 1u << std::uint32_t(what); }
constexpr std::uint32_t doing(NpuUnit unit) { return 1u << std::uint32_t(unit); }
constexpr std::uint32_t doing(const UnitUse& uses) {
  std::uint32_t bits = 0;
  for (std::size_t unit = 0; unit < npu_unit_count; ++unit)
    bits |= std::uint32_t(uses[unit]) << unit;
  return bits;
}

struct RunPart {
  Interval at;              // nanoseconds
  std::uint32_t doing = 0;  // bits
};

class RunTimes {
 public:
  explicit RunTimes(std::vector<RunPart> parts);

  // Of the time in which what is done at once fits.
  template <class Fits>
  std::int64_t length(const Fits& fits) const {
    std::int64_t sum = 0;
    for (std::uint32_t bits = 0; bits < time_doing_.size(); ++bits) {
      if (time_doing_[bits] > 0 && fits(bits)) sum = saturating_add(sum, time_doing_[bits]);
    }
    return sum;
  }
  // First to last time in which what is done at once fits; none where none does.
  template <class Fits>
  std::optional<Interval> extent(const Fits& fits) const {
    std::optional<Interval> all;
    for (std::uint32_t bits = 0; bits < time_doing_.size(); ++bits) {
      if (time_doing_[bits] == 0 || !fits(bits)) continue;
      if (!all) all = extent_[bits];
      all = {std::min(all->begin, extent_[bits].begin), std::max(all->end, extent_[bits].end)};
    }
    return all;
  }

 private:
  struct Ending {
    std::int64_t end = 0;
    std::uint32_t doing = 0;
    bool operator>(const Ending& other) const { return end > other.end; }
  };
  void pass_until(std::int64_t time);
  void end_until(std::int64_t time);

  // By the bits of what is done at once.
  std::array<std::int64_t, std::size_t{1} << doing_bits> time_doing_{};
  std::array<Interval, std::size_t{1} << doing_bits> extent_{};
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  std::array<std::uint32_t, doing_bits> open_{};  // parts that do it
  std::uint32_t now_doing_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace npuscope::torq
