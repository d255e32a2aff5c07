#include "npuscope/analysis/overlap.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/answers.hpp"
#include "analysis/units/busy_together.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "profile/sort_by_time.hpp"

namespace npuscope::analysis {
namespace {

// A set of intervals in which a class is at work.
struct Stream {
  const IntervalSet* set = nullptr;
  std::uint8_t of = 0;
};

struct Event {
  std::int64_t time = 0;
  std::uint8_t of = 0;
  bool begins = false;
};

// What a stretch of time holds: how long each set of classes worked, and each number of units.
struct Counted {
  std::array<std::int64_t, std::size_t{1} << Overlap::classes> with{};
  std::vector<std::int64_t> units;
};

// Hands over what of a set lies within the window, cut at its ends.
template <class Take>
void take_within(const IntervalSet& set, Interval window, const Take& take) {
  auto at = std::upper_bound(set.begin(), set.end(), window.begin,
                             [](std::int64_t t, const Interval& each) { return t < each.end; });
  for (; at != set.end() && at->begin < window.end; ++at) {
    take(std::max(at->begin, window.begin), std::min(at->end, window.end));
  }
}

// All that begins or ends within the window, in the order of time.
std::vector<Event> events_in(const std::vector<Stream>& streams, Interval window) {
  std::vector<Event> events;
  for (const Stream& stream : streams) {
    take_within(*stream.set, window, [&](std::int64_t begin, std::int64_t end) {
      events.push_back({begin, stream.of, true});
      events.push_back({end, stream.of, false});
    });
  }
  sort_by_time(events, [](const Event& event) { return event.time; });
  return events;
}

void sweep_classes(const std::vector<Stream>& streams, Interval window, Counted& counted) {
  std::size_t mask = 0;
  std::int64_t now = window.begin;
  const auto pass_until = [&](std::int64_t time) {
    // At one moment ends and begins come in any order: the mask is right once it has passed.
    if (time > now) {
      std::int64_t& with = counted.with[mask];
      with = saturating_add(with, saturating_subtract(time, now));
      now = time;
    }
  };
  for (const Event& event : events_in(streams, window)) {
    pass_until(event.time);
    const std::size_t bit = std::size_t{1} << event.of;
    mask = event.begins ? mask | bit : mask & ~bit;
  }
  pass_until(window.end);
}

struct Offsets {
  std::vector<std::uint64_t> begins, ends;
};

// Begins and ends are sorted apart, as offsets in the window, and then told one after the other.
// Which comes next is as random as can be: a processor must not have to guess it.
void sweep_units(const std::vector<UnitBusy>& units, Interval window, Offsets& offsets,
                 Counted& counted) {
  auto& [begins, ends] = offsets;
  begins.clear();
  ends.clear();
  const auto offset = [&](std::int64_t time) {
    return std::uint64_t(time) - std::uint64_t(window.begin);
  };
  for (const UnitBusy& unit : units) {
    take_within(unit.busy, window, [&](std::int64_t begin, std::int64_t end) {
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
  std::vector<std::uint64_t> time_at(units.size() + 1, 0);
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
  for (const std::uint64_t time : time_at) {
    counted.units.push_back(std::int64_t(std::min(time, max)));
  }
}

// Windows of one length that tile the extent.
std::vector<Interval> windows_of(Interval extent, std::size_t count) {
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

}  // namespace

Overlap find_overlap(const Analysis& analysis) {
  const std::vector<UnitBusy>& units = analysis.unit_busy();
  const BusyTogether& together = analysis.busy_together();
  std::vector<Stream> streams;
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    if (together.engines[engine].empty()) continue;
    streams.push_back({&together.engines[engine], std::uint8_t(engine)});
  }
  Overlap overlap;
  Interval extent{std::numeric_limits<std::int64_t>::max(),
                  std::numeric_limits<std::int64_t>::min()};
  std::size_t intervals = 0;
  for (const UnitBusy& unit : units) {
    if (unit.busy.empty()) continue;
    extent.begin = std::min(extent.begin, unit.busy.front().begin);
    extent.end = std::max(extent.end, unit.busy.back().end);
    intervals += unit.busy.size();
  }
  if (intervals == 0) return overlap;
  constexpr std::size_t intervals_a_window = 20'000, max_windows = 1'000;
  const auto windows =
      windows_of(extent, std::clamp<std::size_t>(intervals / intervals_a_window, 1, max_windows));
  std::vector<Counted> counted(windows.size());
  PerThread<Offsets> offsets;
  parallel_for(windows.size(), [&](std::size_t i) {
    sweep_units(units, windows[i], offsets.mine(), counted[i]);
    sweep_classes(streams, windows[i], counted[i]);
  });

  Counted all;
  for (const Counted& part : counted) {
    for (std::size_t mask = 0; mask < part.with.size(); ++mask) {
      all.with[mask] = saturating_add(all.with[mask], part.with[mask]);
    }
    for (std::size_t k = 0; k < part.units.size(); ++k) {
      if (part.units[k] <= 0) continue;
      if (all.units.size() <= k) all.units.resize(k + 1, 0);
      all.units[k] = saturating_add(all.units[k], part.units[k]);
    }
  }
  all.with[0] = 0;
  const auto bit = [](Engine engine) { return std::size_t{1} << std::size_t(engine); };
  const std::size_t compute = bit(Engine::hvx) | bit(Engine::hmx) | bit(Engine::compute);
  for (std::size_t mask = 1; mask < all.with.size(); ++mask) {
    const std::int64_t time = all.with[mask];
    if (time == 0) continue;
    if ((mask & (mask - 1)) != 0) overlap.several = saturating_add(overlap.several, time);
    if ((mask & bit(Engine::dma)) != 0 && (mask & compute) != 0) {
      overlap.hidden_dma = saturating_add(overlap.hidden_dma, time);
    }
    for (std::size_t a = 0; a < Overlap::classes; ++a) {
      for (std::size_t b = 0; b < Overlap::classes && (mask >> a & 1) != 0; ++b) {
        if ((mask >> b & 1) == 0) continue;
        overlap.both[a][b] = saturating_add(overlap.both[a][b], time);
      }
    }
  }
  for (std::size_t a = 0; a < Overlap::classes; ++a) {
    if (overlap.both[a][a] > 0) overlap.engines.push_back(Engine(a));
  }
  overlap.concurrency.time_at = std::move(all.units);
  return overlap;
}

}  // namespace npuscope::analysis
