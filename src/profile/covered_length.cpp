// Of many intervals, most moments lie deep inside some: time is cut into slices, those that an
// interval covers whole are counted, and only what reaches into the others is sorted.
#include <algorithm>
#include <bit>
#include <limits>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {
namespace {

constexpr std::size_t few = 256;
constexpr std::size_t too_many = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t intervals_of_slice = 4;

bool is_empty(Interval interval) { return interval.end <= interval.begin; }

struct Extent {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  bool in_order = true;
};

Extent extent_of(std::span<const Interval> intervals) {
  Extent extent;
  std::int64_t before = std::numeric_limits<std::int64_t>::min();
  for (const Interval interval : intervals) {
    extent.in_order = extent.in_order && before <= interval.begin;
    before = interval.begin;
    if (is_empty(interval)) continue;
    extent.begin = std::min(extent.begin, interval.begin);
    extent.end = std::max(extent.end, interval.end);
  }
  return extent;
}

std::int64_t length_in_order(std::span<const Interval> intervals) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < intervals.size();) {
    Interval joined = intervals[i];
    while (++i < intervals.size() && intervals[i].begin <= joined.end) {
      joined.end = std::max(joined.end, intervals[i].end);
    }
    sum = saturating_add(sum, length_of(joined));
  }
  return sum;
}

// Slices of equal lengths, a power of two.
class Slices {
 public:
  Slices(Extent extent, std::size_t count) : begin_(std::uint64_t(extent.begin)) {
    const std::uint64_t last = std::uint64_t(extent.end) - 1 - begin_;
    const unsigned bits = unsigned(std::bit_width(last)), wanted = std::bit_width(count);
    bits_of_slice_ = bits > wanted ? bits - wanted : 0;
    change_.resize(std::size_t(last >> bits_of_slice_) + 2);
  }

  // Notes the slices that it covers whole; those in which it begins and ends it reaches into.
  void add(Interval interval) {
    const std::size_t first = of(interval.begin), last = of(interval.end - 1);
    if (last < first + 2) return;
    change_[first + 1] += 1;
    change_[last] -= 1;
  }
  // After all were added. How long the slices are that are covered whole.
  std::uint64_t sum_up() {
    std::uint64_t covered = 0;
    std::int32_t depth = 0;
    for (std::int32_t& change : change_) {
      depth += change;
      change = depth;
      covered += depth > 0;
    }
    return covered << bits_of_slice_;
  }
  // What of it lies in slices that are not covered whole.
  void append_rest(Interval interval, std::vector<Interval>& rest) const {
    const std::size_t first = of(interval.begin), last = of(interval.end - 1);
    const bool first_counts = change_[first] == 0, last_counts = change_[last] == 0;
    if (last == first) {
      if (first_counts) rest.push_back(interval);
      return;
    }
    if (first_counts) rest.push_back({interval.begin, begin_of(first + 1)});
    if (last_counts) rest.push_back({begin_of(last), interval.end});
  }

 private:
  std::size_t of(std::int64_t time) const {
    return std::size_t((std::uint64_t(time) - begin_) >> bits_of_slice_);
  }
  std::int64_t begin_of(std::size_t slice) const {
    return std::int64_t(begin_ + (std::uint64_t(slice) << bits_of_slice_));
  }

  std::uint64_t begin_;
  unsigned bits_of_slice_ = 0;
  std::vector<std::int32_t> change_;  // how many more cover this slice than the one before; the sum
};

}  // namespace

std::int64_t covered_length(std::span<const Interval> intervals) {
  const Extent extent = extent_of(intervals);
  if (extent.in_order) return length_in_order(intervals);
  if (extent.end <= extent.begin) return 0;
  if (intervals.size() < few || intervals.size() > too_many) {
    return length_of(union_of({intervals.begin(), intervals.end()}));
  }
  Slices slices(extent, intervals.size() / intervals_of_slice);
  for (const Interval interval : intervals) {
    if (!is_empty(interval)) slices.add(interval);
  }
  const std::uint64_t covered = slices.sum_up();
  if (covered == 0) return length_of(union_of({intervals.begin(), intervals.end()}));
  std::vector<Interval> rest;
  for (const Interval interval : intervals) {
    if (!is_empty(interval)) slices.append_rest(interval, rest);
  }
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return saturating_add(std::int64_t(std::min(covered, most)),
                        length_of(union_of(std::move(rest))));
}

}  // namespace npuscope
