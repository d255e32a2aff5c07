#include "npuscope/analysis/overlap.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "analysis/answers.hpp"
#include "analysis/units/busy_together.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "profile/interval_sets.hpp"
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

// How long each set of classes worked.
using TimeWith = std::array<std::int64_t, std::size_t{1} << Overlap::classes>;

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

void sweep_classes(const std::vector<Stream>& streams, Interval window, TimeWith& time_with) {
  std::size_t mask = 0;
  std::int64_t now = window.begin;
  const auto pass_until = [&](std::int64_t time) {
    // At one moment ends and begins come in any order: the mask is right once it has passed.
    if (time > now) {
      std::int64_t& with = time_with[mask];
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

}  // namespace

Overlap find_overlap(const Analysis& analysis) {
  const BusyTogether& together = analysis.busy_together();
  std::vector<Stream> streams;
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    if (together.engines[engine].empty()) continue;
    streams.push_back({&together.engines[engine], std::uint8_t(engine)});
  }
  Overlap overlap;
  std::vector<const IntervalSet*> sets;
  for (const Stream& stream : streams) sets.push_back(stream.set);
  const std::vector<Interval> windows = windows_of(sets);
  std::vector<TimeWith> of_windows(windows.size());
  parallel_for(windows.size(),
               [&](std::size_t i) { sweep_classes(streams, windows[i], of_windows[i]); });
  TimeWith with{};
  for (const TimeWith& of_window : of_windows) {
    for (std::size_t mask = 1; mask < with.size(); ++mask) {
      with[mask] = saturating_add(with[mask], of_window[mask]);
    }
  }
  const auto bit = [](Engine engine) { return std::size_t{1} << std::size_t(engine); };
  const std::size_t compute = bit(Engine::hvx) | bit(Engine::hmx) | bit(Engine::compute);
  for (std::size_t mask = 1; mask < with.size(); ++mask) {
    const std::int64_t time = with[mask];
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
  return overlap;
}

Concurrency find_concurrency(const Analysis& analysis) {
  std::vector<const IntervalSet*> busy;
  for (const UnitBusy& unit : analysis.unit_busy()) busy.push_back(&unit.busy);
  return concurrency_of(busy);
}

}  // namespace npuscope::analysis
