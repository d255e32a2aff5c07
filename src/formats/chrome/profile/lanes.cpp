#include "formats/chrome/profile/lanes.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace npuscope::chrome {
namespace {

// Beyond this many slices at once, not even lanes help a reader: the last one takes the rest.
constexpr std::size_t max_lanes = 256;

// The ends of the slices that are open in one lane, innermost last.
using OpenEnds = std::vector<std::int64_t>;

// Whether a slice fits within what is open, and if so opens it.
bool open_slice(OpenEnds& open, std::int64_t start, std::int64_t end) {
  while (!open.empty() && open.back() <= start) open.pop_back();
  if (!open.empty() && open.back() < end) return false;
  open.push_back(end);
  return true;
}

std::uint16_t find_lane(std::vector<OpenEnds>& lanes, std::int64_t start, std::int64_t end) {
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    if (open_slice(lanes[lane], start, end)) return std::uint16_t(lane);
  }
  if (lanes.size() < max_lanes) lanes.push_back({end});
  return std::uint16_t(lanes.size() - 1);
}

}  // namespace

std::vector<std::uint32_t> nesting_order(const Slices& slices, std::size_t threads) {
  std::vector<std::uint32_t> order;
  const auto key = [&](std::uint32_t i) {
    return std::tuple(slices.start[i], -slices.duration[i]);
  };
  std::vector<std::uint32_t> last(threads);
  std::vector<bool> met(threads);
  bool sorted = true;
  for (std::uint32_t i = 0; i < slices.size() && sorted; ++i) {
    const std::uint32_t thread = slices.thread[i];
    sorted = !met[thread] || key(last[thread]) <= key(i);
    met[thread] = true;
    last[thread] = i;
  }
  if (sorted) return order;
  order.resize(slices.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(slices.thread[a], slices.start[a], -slices.duration[a], a) <
           std::tuple(slices.thread[b], slices.start[b], -slices.duration[b], b);
  });
  return order;
}

Lanes assign_lanes(const Slices& slices, std::size_t threads,
                   const std::vector<std::uint32_t>& order) {
  Lanes result;
  std::vector<std::vector<OpenEnds>> lanes(threads, std::vector<OpenEnds>(1));
  for (std::size_t place = 0; place < slices.size(); ++place) {
    const std::size_t i = order.empty() ? place : order[place];
    const std::int64_t start = slices.start[i];
    const std::uint16_t lane =
        find_lane(lanes[slices.thread[i]], start, start + slices.duration[i]);
    if (lane == 0) continue;
    if (result.lane.empty()) result.lane.resize(slices.size());
    result.lane[i] = lane;
    ++result.moved;
  }
  for (const auto& of_thread : lanes) {
    result.lane_count.push_back(std::uint32_t(of_thread.size()));
  }
  return result;
}

}  // namespace npuscope::chrome
