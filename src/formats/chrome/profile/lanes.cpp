#include "formats/chrome/profile/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <tuple>

#include "base/parallel.hpp"

namespace npuscope::chrome {
namespace {

// Beyond this many slices at once, not even lanes help a reader: the last one takes the rest.
constexpr std::size_t max_lanes = 256;

std::int64_t length(Interval interval) { return length_of(interval); }

}  // namespace

// The place of the outermost open slice that the new one crosses the end of; their number where it
// crosses none.
std::size_t ThreadLanes::first_crossing(const Lane& lane, Interval interval) const {
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
bool ThreadLanes::comes_after(Interval before, Interval after) const {
  constexpr std::int64_t part = 8;
  const std::int64_t shared = before.end - after.begin;
  if (shared <= resolution_) return true;
  return shared <= std::min(length(before), length(after)) / part;
}

std::uint16_t ThreadLanes::place_among(std::uint32_t slice, Interval interval,
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
bool ThreadLanes::move_beside(std::size_t first, std::vector<Moved>& moved) {
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
std::size_t ThreadLanes::tightest_lane(Interval interval) {
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

namespace {

// The slices of a thread within a part of the file.
struct EndsOfThread {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t first = none, last = none;
};

bool is_in_nesting_order(const Slices& slices, std::size_t threads) {
  const auto key = [&](std::uint32_t i) {
    return std::tuple(slices.start[i], -slices.duration[i]);
  };
  const std::vector<RowRange> parts =
      ranges_of(slices.size(), std::max<std::size_t>(65'536, 8 * threads));
  std::vector<std::vector<EndsOfThread>> of_parts(parts.size());
  std::atomic<bool> in_order = true;
  parallel_for(parts.size(), [&](std::size_t part) {
    if (!in_order) return;
    std::vector<EndsOfThread>& ends = of_parts[part];
    ends.resize(threads);
    for (auto i = std::uint32_t(parts[part].first); i < parts[part].last; ++i) {
      EndsOfThread& of = ends[slices.thread[i]];
      if (of.first == EndsOfThread::none) {
        of.first = i;
      } else if (key(i) < key(of.last)) {
        in_order = false;
        return;
      }
      of.last = i;
    }
  });
  std::vector<EndsOfThread>& before = of_parts.front();
  for (std::size_t part = 1; in_order && part < parts.size(); ++part) {
    for (std::size_t thread = 0; thread < threads; ++thread) {
      const EndsOfThread& next = of_parts[part][thread];
      if (next.first == EndsOfThread::none) continue;
      std::uint32_t& last = before[thread].last;
      if (last != EndsOfThread::none && key(next.first) < key(last)) return false;
      last = next.last;
    }
  }
  return in_order;
}

}  // namespace

std::vector<std::uint32_t> nesting_order(const Slices& slices, std::size_t threads) {
  std::vector<std::uint32_t> order;
  if (is_in_nesting_order(slices, threads)) return order;
  order.resize(slices.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(slices.thread[a], slices.start[a], -slices.duration[a], a) <
           std::tuple(slices.thread[b], slices.start[b], -slices.duration[b], b);
  });
  return order;
}

std::int64_t resolution_of(const Slices& slices) {
  constexpr std::int64_t whole = 1'000;
  const std::vector<RowRange> parts = ranges_of(slices.size());
  std::atomic<bool> all_whole = true;
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t i = parts[part].first; i < parts[part].last && all_whole; ++i) {
      if (slices.start[i] % whole != 0 || slices.duration[i] % whole != 0) all_whole = false;
    }
  });
  return all_whole ? whole : 1;
}

Lanes assign_lanes(const Slices& slices, std::size_t threads,
                   const std::vector<std::uint32_t>& order, std::int64_t resolution) {
  Lanes result;
  std::vector<ThreadLanes> lanes(threads, ThreadLanes(resolution));
  // Each thread's slices by themselves: those of some threads on one core, of others on another.
  const std::size_t groups =
      std::clamp<std::size_t>(workers(), 1, std::clamp<std::size_t>(threads, 1, 8));
  std::vector<std::vector<ThreadLanes::Moved>> moved(groups);
  parallel_for(groups, [&](std::size_t group) {
    const std::size_t first = threads * group / groups, last = threads * (group + 1) / groups;
    for (std::size_t place = 0; place < slices.size(); ++place) {
      const std::size_t i = order.empty() ? place : order[place];
      const std::size_t thread = slices.thread[i];
      if (thread < first || thread >= last) continue;
      const auto slice = std::uint32_t(i);
      const Interval interval{slices.start[i], slices.start[i] + slices.duration[i]};
      const std::uint16_t lane = lanes[thread].place(slice, interval, moved[group]);
      if (lane > 0) moved[group].push_back({slice, lane});
    }
  });
  for (const auto& of_group : moved) {
    if (!of_group.empty()) result.lane.resize(slices.size());
    for (const auto& [slice, lane] : of_group) result.lane[slice] = lane;
    result.moved += of_group.size();
  }
  for (const ThreadLanes& of_thread : lanes) {
    result.lane_count.push_back(of_thread.count());
    result.outlasting += of_thread.outlasting();
    result.early += of_thread.early();
  }
  return result;
}

}  // namespace npuscope::chrome
