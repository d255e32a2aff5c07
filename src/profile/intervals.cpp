#include "npuscope/profile/intervals.hpp"

#include <algorithm>

#include "npuscope/base/parallel.hpp"

namespace npuscope {
namespace {

constexpr auto begins_earlier = [](const Interval& a, const Interval& b) {
  return a.begin < b.begin;
};

// Appends an interval that begins no earlier than the last of `set`.
void append(IntervalSet& set, Interval interval) {
  if (interval.begin >= interval.end) return;
  if (!set.empty() && interval.begin <= set.back().end) {
    set.back().end = std::max(set.back().end, interval.end);
  } else {
    set.push_back(interval);
  }
}

}  // namespace

std::int64_t length_of(std::span<const Interval> set) {
  std::int64_t sum = 0;
  for (const Interval& interval : set) sum = saturating_add(sum, length_of(interval));
  return sum;
}

IntervalSet union_of(std::vector<Interval> intervals) {
  if (!std::is_sorted(intervals.begin(), intervals.end(), begins_earlier)) {
    std::sort(intervals.begin(), intervals.end(), begins_earlier);
  }
  std::size_t kept = 0;  // the set grows in the front of the vector, behind what is still read
  for (const Interval interval : intervals) {
    if (interval.begin >= interval.end) continue;
    if (kept > 0 && interval.begin <= intervals[kept - 1].end) {
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, interval.end);
    } else {
      intervals[kept++] = interval;
    }
  }
  intervals.resize(kept);
  return intervals;
}

IntervalSet union_of(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet sum;
  sum.reserve(a.size() + b.size());
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    const bool from_a = j == b.size() || (i < a.size() && a[i].begin <= b[j].begin);
    append(sum, from_a ? a[i++] : b[j++]);
  }
  return sum;
}

IntervalSet intersection_of(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Interval both{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (both.begin < both.end) common.push_back(both);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

IntervalSet difference_of(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet rest;
  std::size_t j = 0;
  for (Interval left : a) {
    while (j < b.size() && b[j].end <= left.begin) ++j;
    for (std::size_t k = j; k < b.size() && b[k].begin < left.end; ++k) {
      if (b[k].begin > left.begin) rest.push_back({left.begin, b[k].begin});
      left.begin = std::max(left.begin, b[k].end);
      j = k;
    }
    if (left.begin < left.end) rest.push_back(left);
  }
  return rest;
}

IntervalSet gaps_in(const IntervalSet& set, Interval window) {
  if (window.begin >= window.end) return {};
  return difference_of({window}, set);
}

namespace {

// Sorts many times, whose spread is mostly far below 64 bits, by 11 bits at a time, the lowest
// first: several times as fast as comparing them.
void sort_times(std::vector<std::int64_t>& times) {
  constexpr std::size_t worth_it = 4'096;
  constexpr unsigned digit_bits = 11, digits = 1u << digit_bits;
  if (std::is_sorted(times.begin(), times.end())) return;
  if (times.size() < worth_it) return std::sort(times.begin(), times.end());
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  const auto base = std::uint64_t(*least), spread = std::uint64_t(*most) - base;
  std::vector<std::int64_t> other(times.size());
  for (unsigned shift = 0; shift < 64 && (spread >> shift) > 0; shift += digit_bits) {
    const auto digit_of = [&](std::int64_t time) {
      return ((std::uint64_t(time) - base) >> shift) & (digits - 1);
    };
    std::vector<std::size_t> next(digits + 1, 0);
    for (const std::int64_t time : times) next[digit_of(time) + 1] += 1;
    for (unsigned digit = 0; digit < digits; ++digit) next[digit + 1] += next[digit];
    for (const std::int64_t time : times) other[next[digit_of(time)]++] = time;
    times.swap(other);
  }
}

}  // namespace

Concurrency concurrency_of(std::span<const Interval> intervals) {
  std::vector<std::int64_t> begins, ends;
  begins.reserve(intervals.size());
  ends.reserve(intervals.size());
  for (const Interval& interval : intervals) {
    if (interval.begin >= interval.end) continue;
    begins.push_back(interval.begin);
    ends.push_back(interval.end);
  }
  parallel_for(2, [&](std::size_t which) { sort_times(which == 0 ? begins : ends); });
  Concurrency concurrency;
  if (begins.empty()) return concurrency;
  std::size_t running = 0;
  std::int64_t since = begins.front();
  for (std::size_t begun = 0, ended = 0; ended < ends.size();) {
    const bool ends_next = begun == begins.size() || ends[ended] <= begins[begun];
    const std::int64_t now = ends_next ? ends[ended] : begins[begun];
    if (concurrency.time_at.size() <= running) concurrency.time_at.resize(running + 1, 0);
    auto& time = concurrency.time_at[running];
    time = saturating_add(time, saturating_subtract(now, since));
    since = now;
    if (ends_next) {
      ++ended, --running;
    } else {
      ++begun, ++running;
    }
  }
  return concurrency;
}

}  // namespace npuscope
