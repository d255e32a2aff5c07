// Sets of intervals: grown in the order of time, cut into windows, united.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

// Sets that grow in the order of time.

// Appends an interval that begins no earlier than the last one of the set; an empty one not.
inline void append(IntervalSet& set, Interval interval) {
  if (interval.begin >= interval.end) return;
  if (set.empty() || interval.begin > set.back().end) {
    set.push_back(interval);
  } else {
    set.back().end = std::max(set.back().end, interval.end);
  }
}

// Appends a set that begins no earlier than the last interval of this one; false where it does.
inline bool append_all(IntervalSet& set, std::span<const Interval> later) {
  auto next = later.begin();
  for (; next != later.end(); ++next) {
    if (set.empty() || next->begin > set.back().end) break;
    if (next->begin < set.back().begin) return false;
    append(set, *next);
  }
  set.insert(set.end(), next, later.end());
  return true;
}

// Writes the union of two sets to where there is room for both, and says where it ends.
inline Interval* write_union(std::span<const Interval> a, std::span<const Interval> b,
                             Interval* into) {
  if (a.empty()) return std::copy(b.begin(), b.end(), into);
  if (b.empty()) return std::copy(a.begin(), a.end(), into);
  const Interval *i = a.data(), *const end_i = i + a.size();
  const Interval *j = b.data(), *const end_j = j + b.size();
  Interval last = i->begin <= j->begin ? *i++ : *j++;
  const auto add = [&](Interval next) {
    const bool is_apart = next.begin > last.end;
    *into = last;
    into += is_apart;
    last = {is_apart ? next.begin : last.begin, std::max(last.end, next.end)};
  };
  while (i != end_i && j != end_j) {
    // Which comes next is as random as can be: a processor must not have to guess it.
    const bool from_a = i->begin <= j->begin;
    const Interval* const next = from_a ? i : j;
    i += from_a;
    j += !from_a;
    add(*next);
  }
  for (; i != end_i; ++i) add(*i);
  for (; j != end_j; ++j) add(*j);
  *into++ = last;
  return into;
}

// Sets of intervals cut into windows of time, for each core to look at some of them by itself:
//
//   const std::vector<Interval> windows = windows_of(sets);
//   take_within(set, windows[3], [&](std::int64_t begin, std::int64_t end) { … });

// Windows of one length that tile the extent.
inline std::vector<Interval> windows_of(Interval extent, std::size_t count) {
  const auto length = __extension__ static_cast<unsigned __int128>(std::uint64_t(extent.end) -
                                                                   std::uint64_t(extent.begin));
  std::vector<Interval> windows;
  std::int64_t begin = extent.begin;
  for (std::size_t i = 1; i <= count; ++i) {
    const auto offset = std::uint64_t(length * i / count);
    const auto end = std::int64_t(std::uint64_t(extent.begin) + offset);
    if (end > begin) windows.push_back({begin, end});
    begin = end;
  }
  return windows;
}

// Windows that tile what the sets reach over, as many as give each core something to do whose times
// fit into its caches; none where the sets are empty.
inline std::vector<Interval> windows_of(std::span<const IntervalSet* const> sets) {
  constexpr std::size_t intervals_a_window = 20'000, max_windows = 1'000;
  Interval extent{std::numeric_limits<std::int64_t>::max(),
                  std::numeric_limits<std::int64_t>::min()};
  std::size_t intervals = 0;
  for (const IntervalSet* set : sets) {
    if (set->empty()) continue;
    extent.begin = std::min(extent.begin, set->front().begin);
    extent.end = std::max(extent.end, set->back().end);
    intervals += set->size();
  }
  if (intervals == 0) return {};
  return windows_of(extent,
                    std::clamp<std::size_t>(intervals / intervals_a_window, 1, max_windows));
}

// Hands over what of a set lies within the window, cut at its ends.
template <class Take>  // of the begin and the end
void take_within(const IntervalSet& set, Interval window, const Take& take) {
  auto at = std::upper_bound(set.begin(), set.end(), window.begin,
                             [](std::int64_t t, const Interval& each) { return t < each.end; });
  for (; at != set.end() && at->begin < window.end; ++at) {
    take(std::max(at->begin, window.begin), std::min(at->end, window.end));
  }
}

// The union of many sets, none of which is copied to begin with:
//
//   union_of_many({&of_one_unit, &of_another, &of_a_third})
//
// On all cores, one window of time after another: what is made of two of them on the way to all is
// as long as a window, not as long as the sets.

IntervalSet union_of_many(std::vector<const IntervalSet*> sets);

// The same where it need not be kept: what alone has anything is seen where it is, without a copy.
class SeenUnion {
 public:
  explicit SeenUnion(std::vector<const IntervalSet*> sets);
  SeenUnion(const SeenUnion&) = delete;
  SeenUnion& operator=(const SeenUnion&) = delete;

  const IntervalSet& all() const { return *all_; }
  IntervalSet take() &&;  // a copy of what is seen elsewhere

 private:
  IntervalSet made_;
  const IntervalSet* all_ = &made_;
};

}  // namespace npuscope
