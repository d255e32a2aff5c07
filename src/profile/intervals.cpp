#include "npuscope/profile/intervals.hpp"

#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "profile/interval_sets.hpp"
#include "profile/sort_by_time.hpp"

namespace npuscope {
namespace {

__extension__ typedef unsigned __int128 Wide;  // sums of 64-bit numbers

// Where runs in the order of time begin, and the end; nothing when they are too short to be of use.
std::vector<std::size_t> runs_of(const std::vector<Interval>& intervals) {
  constexpr std::size_t min_mean_length = 16;
  std::vector<std::size_t> first{0};
  for (std::size_t i = 1; i < intervals.size(); ++i) {
    if (intervals[i].begin >= intervals[i - 1].begin) continue;
    first.push_back(i);
    if (first.size() > 2 + intervals.size() / min_mean_length) return {};
  }
  first.push_back(intervals.size());
  return first;
}

// Makes one run of two, joined where they overlap: of units that are busy most of the time little
// is left after a few rounds.
void merge_pairs(std::vector<Interval>& intervals, std::vector<std::size_t>& first) {
  std::vector<Interval> merged;
  merged.reserve(intervals.size());
  std::vector<std::size_t> first_merged;
  for (std::size_t run = 0; run + 1 < first.size(); run += 2) {
    const std::size_t begin = merged.size();
    std::size_t i = first[run], j = first[run + 1];
    const std::size_t end_i = j, end_j = run + 2 < first.size() ? first[run + 2] : j;
    first_merged.push_back(begin);
    while (i < end_i || j < end_j) {
      const bool is_i = j == end_j || (i < end_i && intervals[i].begin <= intervals[j].begin);
      const Interval next = intervals[is_i ? i++ : j++];
      if (merged.size() > begin && next.begin <= merged.back().end) {
        merged.back().end = std::max(merged.back().end, next.end);
      } else if (next.begin < next.end) {
        merged.push_back(next);
      }
    }
  }
  first_merged.push_back(merged.size());
  first.swap(first_merged);
  intervals.swap(merged);
}

}  // namespace

std::int64_t length_of(std::span<const Interval> set) {
  // Of many intervals: one sum that cannot overflow costs less than to look each time.
  Wide sum = 0;
  for (const auto& [begin, end] : set) {
    sum += end > begin ? std::uint64_t(end) - std::uint64_t(begin) : 0;
  }
  return std::int64_t(std::min<Wide>(sum, std::numeric_limits<std::int64_t>::max()));
}

IntervalSet union_of(std::vector<Interval> intervals) {
  std::vector<std::size_t> runs = runs_of(intervals);
  if (runs.empty()) {
    sort_by_time(intervals, [](const Interval& interval) { return interval.begin; });
  }
  while (runs.size() > 2) merge_pairs(intervals, runs);
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
  IntervalSet gaps;
  for_each_gap(set, window, [&](Interval gap) { gaps.push_back(gap); });
  return gaps;
}

namespace {

struct Offsets {
  std::vector<std::uint64_t> begins, ends;
};

// How long each number of sets held within the window, from none on. Begins and ends are sorted
// apart, as offsets in the window, and then told one after the other. Which comes next is as random
// as can be: a processor must not have to guess it.
std::vector<std::int64_t> time_at_in(std::span<const IntervalSet* const> sets, Interval window,
                                     Offsets& offsets) {
  auto& [begins, ends] = offsets;
  begins.clear();
  ends.clear();
  const auto offset = [&](std::int64_t time) {
    return std::uint64_t(time) - std::uint64_t(window.begin);
  };
  for (const IntervalSet* set : sets) {
    take_within(*set, window, [&](std::int64_t begin, std::int64_t end) {
      begins.push_back(offset(begin));
      ends.push_back(offset(end));
    });
  }
  const auto order = [](std::uint64_t time) {
    return std::int64_t(time ^ std::uint64_t{1} << 63);  // as unsigned
  };
  sort_by_time(begins, order);
  sort_by_time(ends, order);
  begins.push_back(std::numeric_limits<std::uint64_t>::max());
  std::vector<std::uint64_t> time_at(sets.size() + 1, 0);
  std::uint64_t now = 0;
  for (std::size_t begun = 0, ended = 0; ended < ends.size();) {
    const bool ends_next = ends[ended] <= begins[begun];
    const std::uint64_t next = ends_next ? ends[ended] : begins[begun];
    time_at[begun - ended] += next - now;
    now = next;
    ended += ends_next;
    begun += !ends_next;
  }
  time_at[0] += offset(window.end) - now;
  constexpr auto max = std::uint64_t(std::numeric_limits<std::int64_t>::max());
  std::vector<std::int64_t> of_window;
  for (const std::uint64_t time : time_at) of_window.push_back(std::int64_t(std::min(time, max)));
  return of_window;
}

}  // namespace

Concurrency concurrency_of(std::span<const IntervalSet* const> sets) {
  Concurrency concurrency;
  const std::vector<Interval> windows = windows_of(sets);
  std::vector<std::vector<std::int64_t>> of_windows(windows.size());
  PerThread<Offsets> offsets;
  parallel_for(windows.size(), [&](std::size_t i) {
    of_windows[i] = time_at_in(sets, windows[i], offsets.mine());
  });
  auto& time_at = concurrency.time_at;
  for (const std::vector<std::int64_t>& of_window : of_windows) {
    for (std::size_t count = 0; count < of_window.size(); ++count) {
      if (of_window[count] <= 0) continue;
      if (time_at.size() <= count) time_at.resize(count + 1, 0);
      time_at[count] = saturating_add(time_at[count], of_window[count]);
    }
  }
  return concurrency;
}

}  // namespace npuscope
