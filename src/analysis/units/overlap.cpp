#include "npuscope/analysis/overlap.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "profile/interval_sets.hpp"
#include "profile/sort_by_time.hpp"

namespace npuscope::analysis {

namespace {

using Sets = std::vector<const IntervalSet*>;

// Most units do one thing only, so that those of a class are united once for all who ask.
struct Members {
  Sets alike[engine_count][domain_count];
  Sets engines[engine_count], domains[domain_count];  // of units that do several
  Sets dma_waits, other_waits;

  explicit Members(const std::vector<UnitBusy>& units) {
    for (const UnitBusy& unit : units) {
      add_work(unit);
      dma_waits.push_back(&unit.dma_waits);
      other_waits.push_back(&unit.syncs);
      other_waits.push_back(&unit.barriers);
    }
  }

 private:
  void add_work(const UnitBusy& unit) {
    if (unit.engines.size() == 1 && unit.domains.size() == 1) {
      const auto engine = std::size_t(unit.engines[0].engine);
      alike[engine][std::size_t(unit.domains[0].domain)].push_back(&unit.busy);
      return;
    }
    for (const UnitBusy::OfEngine& of : unit.engines) {
      engines[std::size_t(of.engine)].push_back(&unit.busy_of(of));
    }
    for (const UnitBusy::OfDomain& of : unit.domains) {
      domains[std::size_t(of.domain)].push_back(&unit.busy_of(of));
    }
  }
};

}  // namespace

BusyTogether find_busy_together(const Analysis& analysis) {
  Members members(analysis.unit_busy());
  BusyTogether together;
  IntervalSet alike[engine_count][domain_count];
  const std::size_t classes = engine_count * domain_count;
  parallel_for(classes + 2, [&](std::size_t i) {
    if (i == classes) {
      together.dma_waits = union_of_many(members.dma_waits);
    } else if (i > classes) {
      together.other_waits = union_of_many(members.other_waits);
    } else {
      const std::size_t engine = i / domain_count, domain = i % domain_count;
      alike[engine][domain] = union_of_many(members.alike[engine][domain]);
    }
  });
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    for (std::size_t domain = 0; domain < domain_count; ++domain) {
      members.engines[engine].push_back(&alike[engine][domain]);
      members.domains[domain].push_back(&alike[engine][domain]);
    }
  }
  parallel_for(engine_count, [&](std::size_t engine) {
    together.engines[engine] = union_of_many(members.engines[engine]);
  });
  parallel_for(domain_count, [&](std::size_t domain) {
    IntervalSet* only = nullptr;  // a class of units that alone has anything of the domain
    for (auto& of_engine : alike) {
      if (!of_engine[domain].empty()) only = &of_engine[domain];
    }
    const Sets& sets = members.domains[domain];
    const bool is_alone = only != nullptr && std::ranges::all_of(sets, [&](const IntervalSet* set) {
                            return set->empty() || set == only;
                          });
    together.domains[domain] = is_alone ? std::move(*only) : union_of_many(sets);
  });
  return together;
}

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
