#include "formats/chrome/profile/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"

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

Lanes assign_lanes(const Slices& slices, std::size_t threads,
                   const std::vector<std::uint32_t>& order) {
  Lanes result;
  std::vector<std::vector<OpenEnds>> lanes(threads);
  // Each thread's slices by themselves: those of some threads on one core, of others on another.
  const std::size_t groups =
      std::clamp<std::size_t>(workers(), 1, std::clamp<std::size_t>(threads, 1, 8));
  std::vector<std::vector<std::pair<std::uint32_t, std::uint16_t>>> moved(groups);
  parallel_for(groups, [&](std::size_t group) {
    const std::size_t first = threads * group / groups, last = threads * (group + 1) / groups;
    for (std::size_t place = 0; place < slices.size(); ++place) {
      const std::size_t i = order.empty() ? place : order[place];
      const std::size_t thread = slices.thread[i];
      if (thread < first || thread >= last) continue;
      const std::int64_t start = slices.start[i];
      const std::uint16_t lane = find_lane(lanes[thread], start, start + slices.duration[i]);
      if (lane > 0) moved[group].emplace_back(std::uint32_t(i), lane);
    }
  });
  for (const auto& of_group : moved) {
    if (!of_group.empty()) result.lane.resize(slices.size());
    for (const auto& [slice, lane] : of_group) result.lane[slice] = lane;
    result.moved += of_group.size();
  }
  for (const auto& of_thread : lanes) {
    result.lane_count.push_back(std::uint32_t(of_thread.size()));
  }
  return result;
}

}  // namespace npuscope::chrome
