// Of many intervals, most moments lie deep inside some: time is cut into slices, those that an
// interval covers whole are counted, and only what reaches into the others is sorted.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {
namespace {

constexpr std::size_t very_few = 64, few = 256;
constexpr std::size_t few_runs = 24;  // that are merged at less cost
constexpr std::size_t too_many = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t intervals_of_slice = 4;

bool is_empty(Interval interval) { return interval.end <= interval.begin; }

struct Extent {
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  std::uint64_t longest = 0;
};

Extent extent_of(std::span<const Interval> intervals) {
  Extent extent;
  for (const Interval interval : intervals) {
    if (is_empty(interval)) continue;
    extent.begin = std::min(extent.begin, interval.begin);
    extent.end = std::max(extent.end, interval.end);
    extent.longest =
        std::max(extent.longest, std::uint64_t(interval.end) - std::uint64_t(interval.begin));
  }
  return extent;
}

// How many runs in the order of time they are, at most `few_runs`.
std::size_t count_runs(std::span<const Interval> intervals) {
  std::size_t runs = 1;
  for (std::size_t i = 1; i < intervals.size() && runs < few_runs; ++i) {
    runs += intervals[i].begin < intervals[i - 1].begin;
  }
  return runs;
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

// In the order of time, each put in its place among those before; nothing where that moves too
// many. The spans of an op that runs again and again on several units are nearly in that order.
std::vector<Interval> inserted_in_order(std::span<const Interval> intervals) {
  constexpr std::size_t moves_of_each = 4, moves_at_first = 64;
  std::vector<Interval> sorted;
  sorted.reserve(intervals.size());
  std::size_t moves_left = moves_at_first;
  for (const Interval interval : intervals) {
    std::size_t place = sorted.size();
    sorted.push_back(interval);
    for (; place > 0 && sorted[place - 1].begin > interval.begin; --place) {
      if (moves_left-- == 0) return {};
      sorted[place] = sorted[place - 1];
    }
    sorted[place] = interval;
    moves_left += moves_of_each;
  }
  return sorted;
}

// Slices of equal lengths, a power of two.
class Slices {
 public:
  Slices(Extent extent, std::size_t count) : begin_(std::uint64_t(extent.begin)) {
    const std::uint64_t last = std::uint64_t(extent.end) - 1 - begin_;
    const unsigned bits = unsigned(std::bit_width(last)), wanted = std::bit_width(count);
    bits_of_slice_ = bits > wanted ? bits - wanted : 0;
    count_ = std::size_t(last >> bits_of_slice_) + 1;
  }

  bool may_be_covered_by(std::uint64_t length) const { return length >> bits_of_slice_ > 0; }
  void make_room() { change_.resize(count_ + 1); }

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
  std::size_t count_ = 0;
  std::vector<std::int32_t> change_;  // how many more cover this slice than the one before; the sum
};

}  // namespace

std::int64_t covered_length(std::span<const Interval> intervals) {
  const std::size_t runs = count_runs(intervals);
  if (runs == 1) return length_in_order(intervals);
  if (intervals.size() <= very_few) {
    std::array<Interval, very_few> sorted;
    const auto end = std::copy(intervals.begin(), intervals.end(), sorted.begin());
    std::sort(sorted.begin(), end,
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    return length_in_order({sorted.begin(), end});
  }
  if (const auto sorted = inserted_in_order(intervals); !sorted.empty()) {
    return length_in_order(sorted);
  }
  const auto by_union = [&] { return length_of(union_of({intervals.begin(), intervals.end()})); };
  const bool is_simple = intervals.size() < few || runs < few_runs;
  if (is_simple || intervals.size() > too_many) return by_union();
  const Extent extent = extent_of(intervals);
  if (extent.end <= extent.begin) return 0;
  Slices slices(extent, intervals.size() / intervals_of_slice);
  if (!slices.may_be_covered_by(extent.longest)) return by_union();
  slices.make_room();
  for (const Interval interval : intervals) {
    if (!is_empty(interval)) slices.add(interval);
  }
  const std::uint64_t covered = slices.sum_up();
  if (covered == 0) return by_union();
  std::vector<Interval> rest;
  for (const Interval interval : intervals) {
    if (!is_empty(interval)) slices.append_rest(interval, rest);
  }
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return saturating_add(std::int64_t(std::min(covered, most)),
                        length_of(union_of(std::move(rest))));
}

}  // namespace npuscope
