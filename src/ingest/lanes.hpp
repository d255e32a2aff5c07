// Which slices of a track nest, and where those go that do not, so that time counts once:
//
//   |--------- a ---------|          c overlaps b in part: the shorter and earlier b goes to a lane
//     |- b -|                        beside the track, with what is inside it, and c stays within
//     a
//          |--- c ----|
//
// A slice that outlasts the one it is in by no more than the resolution of the file's times is
// within it, and one that begins so little before another's end, or in the last eighth of what is
// far from over, comes after it. Else the later of two goes beside, and what is inside it follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "npuscope/profile/intervals.hpp"

namespace npuscope {

// The lanes of one track, as its slices come in nesting order: by start, the longest first.
class TrackLanes {
 public:
  explicit TrackLanes(std::int64_t resolution) : resolution_(resolution) {}

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

inline std::uint16_t TrackLanes::open(std::size_t lane, std::uint32_t slice, Interval interval) {
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

}  // namespace npuscope
