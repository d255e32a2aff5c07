// Which slices of a thread nest, and where those go that do not, so that time counts once:
//
//   |--------- a ---------|          c overlaps b in part: the shorter and earlier b goes to a lane
//     |- b -|                        beside the thread, with what is inside it, and c stays within
//     a
//          |--- c ----|
//
// A slice that outlasts the one it is in by no more than the resolution of the file's times is
// within it, and one that begins so little before another's end, or in the last eighth of what is
// far from over, comes after it. Else the later of two goes beside, and what is inside it follows.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/events.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::chrome {

// The lanes of one thread, as its slices come in nesting order (lanes.hpp).
class ThreadLanes {
 public:
  explicit ThreadLanes(std::int64_t resolution) : resolution_(resolution) {}

  // The slice's lane; others that leave the first lane for it are appended to `moved`, with theirs.
  struct Moved {
    std::uint32_t slice;
    std::uint16_t lane;
  };
  std::uint16_t place(std::uint32_t slice, Interval interval, std::vector<Moved>& moved) {
    if (lanes_.size() <= 1) {
      if (lanes_.empty()) lanes_.emplace_back();
      Lane& first = lanes_.front();
      close_ended(first, interval.begin);
      if (fits_within(first, interval)) return open(0, slice, interval);
    }
    return place_among(slice, interval, moved);
  }

  std::uint32_t count() const { return std::uint32_t(lanes_.size()); }
  std::uint64_t outlasting() const { return outlasting_; }
  std::uint64_t early() const { return early_; }

 private:
  struct Open {
    Interval interval;
    std::uint32_t place;  // in recent_, of the first lane
  };
  struct Lane {
    std::vector<Open> open;  // the innermost last
    std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
  };

  static void close_ended(Lane& lane, std::int64_t now) {
    while (!lane.open.empty() && lane.open.back().interval.end <= now) lane.open.pop_back();
  }
  static bool fits_within(const Lane& lane, Interval interval) {
    return lane.open.empty() || interval.end <= lane.open.back().interval.end;
  }
  std::uint16_t open(std::size_t lane, std::uint32_t slice, Interval interval);
  std::uint16_t place_among(std::uint32_t slice, Interval interval, std::vector<Moved>& moved);
  std::size_t first_crossing(const Lane& lane, Interval interval) const;
  bool comes_after(Interval before, Interval after) const;
  bool move_beside(std::size_t first, std::vector<Moved>& moved);
  std::size_t tightest_lane(Interval interval);

  std::int64_t resolution_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> recent_;  // slices in the first lane since it was last idle
  std::uint64_t outlasting_ = 0, early_ = 0;
};

inline std::uint16_t ThreadLanes::open(std::size_t lane, std::uint32_t slice, Interval interval) {
  Lane& of = lanes_[lane];
  if (lane == 0) {
    if (of.open.empty()) recent_.clear();
    of.open.push_back({interval, std::uint32_t(recent_.size())});
    recent_.push_back(slice);
  } else {
    of.open.push_back({interval, 0});
  }
  of.last_end = std::max(of.last_end, interval.end);
  return std::uint16_t(lane);
}

struct Lanes {
  std::vector<std::uint16_t> lane;        // by slice; empty when all are in lane 0
  std::vector<std::uint32_t> lane_count;  // by thread; 0: no slice
  std::uint64_t moved = 0;                // slices in other lanes than the first
  std::uint64_t outlasting = 0;           // within another though they end after it
  std::uint64_t early = 0;                // after another though they begin before its end
};

// The steps in which the file states times, in thousandths of its unit: 1'000 where it states whole
// ones, else 1.
std::int64_t resolution_of(const Slices& slices);

// Slices in the order of thread, start, and longest first; ties in file order. Empty when they
// stand in the file in an order in which a slice never comes before one of its thread that encloses
// it or starts earlier.
std::vector<std::uint32_t> nesting_order(const Slices& slices, std::size_t threads);

Lanes assign_lanes(const Slices& slices, std::size_t threads,
                   const std::vector<std::uint32_t>& order, std::int64_t resolution);

}  // namespace npuscope::chrome
