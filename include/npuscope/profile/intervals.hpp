// The algebra of time intervals, on which every statement about busy, idle, overlapping and waiting
// units rests. An interval is half-open, [begin, end): one that ends at 5 and one that begins at 5
// do not overlap. A set is sorted, its intervals apart from each other and not empty.
//
//   const IntervalSet busy = union_of({{0, 4}, {2, 6}, {9, 10}});   // {0,6} {9,10}
//   length_of(busy)                                                  // 7
//   gaps_in(busy, {0, 12})                                           // {6,9} {10,12}
//   intersection_of(busy, union_of({{5, 20}}))                       // {5,6} {9,10}
//   const IntervalSet* sets[] = {&busy, &other};                     // other: {2,3} {10,12}
//   concurrency_of(sets).time_at                                     // 0: 3, 1: 8, 2: 1
//
// All in O(n log n) for n intervals in any order, O(n) for sorted ones; times may be any 64-bit
// numbers, lengths saturate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace npuscope {

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool operator==(const Interval&) const = default;
};

using IntervalSet = std::vector<Interval>;

// From the first start to the last end of some: none yet, then extended by each.
inline constexpr Interval no_extent{std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
inline void extend_by(Interval& extent, Interval by) {
  extent.begin = std::min(extent.begin, by.begin);
  extent.end = std::max(extent.end, by.end);
}

// Never overflow: a sum or difference beyond 64 bits is the largest or smallest number.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  using Limits = std::numeric_limits<std::int64_t>;
  return b > 0 ? Limits::max() : Limits::min();
}
inline std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  using Limits = std::numeric_limits<std::int64_t>;
  return b > 0 ? Limits::min() : Limits::max();
}

// Zero for an empty or reversed interval.
inline std::int64_t length_of(Interval interval) {
  return interval.end <= interval.begin ? 0 : saturating_subtract(interval.end, interval.begin);
}
std::int64_t length_of(std::span<const Interval> set);
// How long at least one of them lasts, in any order: the length of their union, which is not made.
std::int64_t covered_length(std::span<const Interval> intervals);

// Empty and reversed intervals count as nothing.
IntervalSet union_of(std::vector<Interval> intervals);

IntervalSet union_of(const IntervalSet& a, const IntervalSet& b);
IntervalSet intersection_of(const IntervalSet& a, const IntervalSet& b);
// What is in `a` and not in `b`.
IntervalSet difference_of(const IntervalSet& a, const IntervalSet& b);
// What of `window` is not in the set.
IntervalSet gaps_in(const IntervalSet& set, Interval window);
// The same one by one, take(gap), without a set of them.
template <class Take>
void for_each_gap(const IntervalSet& set, Interval window, const Take& take) {
  std::int64_t now = window.begin;
  for (const Interval& interval : set) {
    if (now >= window.end || interval.begin >= window.end) break;
    if (interval.begin > now) take(Interval{now, interval.begin});
    now = std::max(now, interval.end);
  }
  if (now < window.end) take(Interval{now, window.end});
}

struct Concurrency {
  // How long exactly k of the sets held, for k = 0 … most; 0 counts between the first begin and the
  // last end only.
  std::vector<std::int64_t> time_at;
  std::size_t max() const { return time_at.empty() ? 0 : time_at.size() - 1; }
};

Concurrency concurrency_of(std::span<const IntervalSet* const> sets);

}  // namespace npuscope
