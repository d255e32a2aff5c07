// Time on a device, and the bandwidth that its transfers share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "npuscope/base/units.hpp"

namespace npuscope::npu::nsp {

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

}  // namespace npuscope::npu::nsp
