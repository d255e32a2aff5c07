#include "npuscope/analysis/overlap.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/answers.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "profile/sort_by_time.hpp"

namespace npuscope::analysis {
namespace {

constexpr std::uint8_t no_class = 0xff;

// A set of intervals that counts as a class at work, a unit at work, or both.
struct Stream {
  const IntervalSet* set = nullptr;
  std::uint8_t of = no_class;
  bool is_unit = false;
};

struct Event {
  std::int64_t time = 0;
  std::uint8_t of = no_class;
  bool is_unit = false;
  bool begins = false;
};

// What a stretch of time holds: how long each set of classes worked, and each number of units.
struct Counted {
  std::array<std::int64_t, std::size_t{1} << Overlap::classes> with{};
  std::vector<std::int64_t> units;

  void add(std::size_t mask, std::size_t count, std::int64_t time) {
    if (units.size() <= count) units.resize(count + 1, 0);
    with[mask] = saturating_add(with[mask], time);
    units[count] = saturating_add(units[count], time);
  }
};

std::vector<Stream> streams_of(const std::vector<UnitBusy>& units) {
  std::vector<Stream> streams;
  for (const UnitBusy& unit : units) {
    const bool one = unit.engines.size() == 1;
    for (const UnitBusy::OfEngine& of : unit.engines) {
      streams.push_back({&unit.busy_of(of), std::uint8_t(of.engine), one});
    }
    if (!one && !unit.busy.empty()) streams.push_back({&unit.busy, no_class, true});
  }
  return streams;
}

// All that begins or ends within the window, in the order of time; what reaches beyond is cut.
std::vector<Event> events_in(const std::vector<Stream>& streams, Interval window) {
  std::vector<Event> events;
  for (const Stream& stream : streams) {
    auto at = std::upper_bound(stream.set->begin(), stream.set->end(), window.begin,
                               [](std::int64_t t, const Interval& each) { return t < each.end; });
    for (; at != stream.set->end() && at->begin < window.end; ++at) {
      events.push_back({std::max(at->begin, window.begin), stream.of, stream.is_unit, true});
      events.push_back({std::min(at->end, window.end), stream.of, stream.is_unit, false});
    }
  }
  sort_by_time(events, [](const Event& event) { return event.time; });
  return events;
}

void sweep(const std::vector<Stream>& streams, Interval window, Counted& counted) {
  std::int64_t running[Overlap::classes] = {};
  std::size_t mask = 0;
  std::int64_t units = 0;
  std::int64_t now = window.begin;
  const auto pass_until = [&](std::int64_t time) {
    // At one moment ends and begins come in any order: counts are right once it has passed.
    if (time > now) {
      counted.add(mask, std::size_t(units), saturating_subtract(time, now));
      now = time;
    }
  };
  for (const Event& event : events_in(streams, window)) {
    pass_until(event.time);
    const std::int64_t change = event.begins ? 1 : -1;
    if (event.is_unit) units += change;
    if (event.of == no_class) continue;
    std::int64_t& count = running[event.of];
    count += change;
    mask = count > 0 ? mask | std::size_t{1} << event.of : mask & ~(std::size_t{1} << event.of);
  }
  pass_until(window.end);
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
  const std::vector<Stream> streams = streams_of(units);
  Overlap overlap;
  Interval extent{std::numeric_limits<std::int64_t>::max(),
                  std::numeric_limits<std::int64_t>::min()};
  std::size_t intervals = 0;
  for (const Stream& stream : streams) {
    if (stream.set->empty()) continue;
    extent.begin = std::min(extent.begin, stream.set->front().begin);
    extent.end = std::max(extent.end, stream.set->back().end);
    intervals += stream.set->size();
  }
  if (intervals == 0) return overlap;
  constexpr std::size_t intervals_a_window = 20'000, max_windows = 1'000;
  const auto windows =
      windows_of(extent, std::clamp<std::size_t>(intervals / intervals_a_window, 1, max_windows));
  std::vector<Counted> counted(windows.size());
  parallel_for(windows.size(), [&](std::size_t i) { sweep(streams, windows[i], counted[i]); });

  Counted all;
  for (const Counted& part : counted) {
    for (std::size_t mask = 0; mask < part.with.size(); ++mask) {
      all.with[mask] = saturating_add(all.with[mask], part.with[mask]);
    }
    for (std::size_t k = 0; k < part.units.size(); ++k) {
      if (part.units[k] > 0) all.add(0, k, part.units[k]);
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
