// Sets that grow in the order of time.
#pragma once

#include <algorithm>
#include <span>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

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

}  // namespace npuscope
