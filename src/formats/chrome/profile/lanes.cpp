#include "formats/chrome/profile/lanes.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/parallel.hpp"
#include "profile/unit_processes.hpp"

namespace npuscope::chrome {

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
  std::vector<TrackLanes> lanes(threads, TrackLanes(resolution));
  // Each thread's slices by themselves: those of some threads on one core, of others on another.
  const std::size_t groups =
      std::clamp<std::size_t>(workers(), 1, std::clamp<std::size_t>(threads, 1, 8));
  std::vector<std::vector<TrackLanes::Moved>> moved(groups);
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
  for (const TrackLanes& of_thread : lanes) {
    result.lane_count.push_back(of_thread.count());
    result.outlasting += of_thread.outlasting();
    result.early += of_thread.early();
  }
  return result;
}

namespace {

StringId name_or(Profile& profile, StringId name, std::string_view kind, StringId id) {
  if (name != StringId::empty) return name;
  return profile.strings.intern(std::string(kind).append(" ").append(profile.text(id)));
}

// Threads on which nothing runs are only places where counters and names of processes stand.
std::vector<bool> threads_with_rows(const Events& events,
                                    const std::vector<std::uint32_t>& lane_count) {
  std::vector<bool> used(events.threads.size());
  for (std::size_t i = 0; i < events.marks.size(); ++i) {
    const char phase = events.marks.phase[i];
    if (phase != 'M' && phase != 'C') used[events.marks.thread[i]] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    used[i] = used[i] || lane_count[i] > 0 || events.threads[i].thread_name != StringId::empty;
  }
  return used;
}

void add_lanes(const Thread& thread, std::uint32_t lanes, UnitId process, Profile& profile) {
  const StringId name = name_or(profile, thread.thread_name, "Thread", thread.thread_id);
  const auto first = UnitId(profile.units.size());
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    Unit unit;
    unit.engine = Engine::thread;
    unit.lane = lane;
    unit.parent = lane == 0 ? process : first;
    unit.process_id = thread.process_id;
    unit.thread_id = thread.thread_id;
    unit.name = name;
    if (lane > 0) {
      unit.name = profile.strings.intern(fmt::format("{} (lane {})", profile.text(name), lane + 1));
    }
    profile.units.push_back(unit);
  }
}

}  // namespace

UnitTable make_units(const Events& events, const std::vector<std::uint32_t>& lane_count,
                     Profile& profile) {
  UnitTable table;
  const std::vector<bool> used = threads_with_rows(events, lane_count);
  std::unordered_map<std::uint32_t, UnitId> processes;
  for (std::size_t i = 0; i < events.threads.size(); ++i) {
    const Thread& thread = events.threads[i];
    const auto [process, is_new] =
        processes.try_emplace(std::uint32_t(thread.process_id), UnitId(profile.units.size()));
    if (is_new) {
      Unit unit;
      unit.engine = Engine::process;
      unit.process_id = thread.process_id;
      unit.name = name_or(profile, thread.process_name, "Process", thread.process_id);
      profile.units.push_back(unit);
    }
    table.process.push_back(process->second);
    table.first_lane.push_back(used[i] ? UnitId(profile.units.size()) : process->second);
    if (used[i]) {
      add_lanes(thread, std::max(1u, lane_count[i]), process->second, profile);
    }
  }
  number_namesakes(profile);
  return table;
}

}  // namespace npuscope::chrome
