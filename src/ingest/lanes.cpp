#include "ingest/lanes.hpp"

#include <algorithm>

namespace npuscope {
namespace {

// Beyond this many slices at once, not even lanes help a reader: the last one takes the rest.
constexpr std::size_t max_lanes = 256;

std::int64_t length(Interval interval) { return length_of(interval); }

}  // namespace

// The place of the outermost open slice that the new one crosses the end of; their number where it
// crosses none.
std::size_t TrackLanes::first_crossing(const Lane& lane, Interval interval) const {
  std::size_t place = lane.open.size();
  while (place > 0) {
    const std::int64_t outlasts = interval.end - lane.open[place - 1].interval.end;
    const std::int64_t shared = lane.open[place - 1].interval.end - interval.begin;
    if (outlasts <= 0 || (outlasts <= resolution_ && shared > resolution_)) break;
    --place;
  }
  return place;
}

// Of two that overlap in part, whether that is the clock's or the recorder's doing.
bool TrackLanes::comes_after(Interval before, Interval after) const {
  constexpr std::int64_t part = 8;
  const std::int64_t shared = before.end - after.begin;
  if (shared <= resolution_) return true;
  return shared <= std::min(length(before), length(after)) / part;
}

std::uint16_t TrackLanes::place_among(std::uint32_t slice, Interval interval,
                                      std::vector<Moved>& moved) {
  Lane& first = lanes_.front();
  bool others_are_open = false;
  for (Lane& lane : lanes_) {
    close_ended(lane, interval.begin);
    others_are_open = others_are_open || (&lane != &first && !lane.open.empty());
  }
  if (!others_are_open && fits_within(first, interval)) return open(0, slice, interval);
  const std::size_t crossing = first_crossing(first, interval);
  if (crossing < first.open.size()) {
    const Interval outermost = first.open[crossing].interval;
    if (comes_after(outermost, interval)) {
      first.open.resize(crossing);
      early_ += 1;
    } else if (length(outermost) < length(interval) && move_beside(crossing, moved)) {
      return open(0, slice, interval);
    }
  }
  const std::size_t lane = tightest_lane(interval);
  const std::vector<Open>& around = lanes_[lane].open;
  outlasting_ += !around.empty() && around.back().interval.end < interval.end ? 1 : 0;
  return open(lane, slice, interval);
}

// What is open in the first lane from there on, and all that was inside it, to a lane that was idle
// since before; false where there is none.
bool TrackLanes::move_beside(std::size_t first, std::vector<Moved>& moved) {
  const Open outermost = lanes_[0].open[first];
  std::size_t lane = 1;
  while (lane < lanes_.size() && lanes_[lane].last_end > outermost.interval.begin) ++lane;
  if (lane == max_lanes) return false;
  if (lane == lanes_.size()) lanes_.emplace_back();
  std::vector<Open>& from = lanes_[0].open;
  Lane& to = lanes_[lane];
  to.open.assign(from.begin() + std::ptrdiff_t(first), from.end());
  for (const Open& each : to.open) to.last_end = std::max(to.last_end, each.interval.end);
  from.resize(first);
  for (std::size_t i = outermost.place; i < recent_.size(); ++i) {
    moved.push_back({recent_[i], std::uint16_t(lane)});
  }
  recent_.resize(outermost.place);
  return true;
}

// Of the lanes in which it crosses no end, the one in which the innermost open slice began last,
// else the first idle one.
std::size_t TrackLanes::tightest_lane(Interval interval) {
  std::size_t idle = lanes_.size(), tightest = lanes_.size();
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const std::vector<Open>& open = lanes_[lane].open;
    if (open.empty()) {
      idle = std::min(idle, lane);
    } else if (first_crossing(lanes_[lane], interval) == open.size()) {
      const bool later = tightest == lanes_.size() ||
                         open.back().interval.begin > lanes_[tightest].open.back().interval.begin;
      if (later) tightest = lane;
    }
  }
  if (tightest < lanes_.size()) return tightest;
  if (idle < lanes_.size()) return idle;
  if (lanes_.size() < max_lanes) lanes_.emplace_back();
  return lanes_.size() - 1;
}

}  // namespace npuscope
