#include "npuscope/analysis/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/inference_times.hpp"
#include "analysis/ops/op_keys.hpp"
#include "analysis/units/unit_busy.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/overlap.hpp"
#include "profile/interval_sets.hpp"
#include "profile/sort_by_time.hpp"

namespace npuscope::analysis {

bool Traffic::known() const {
  return std::any_of(std::begin(bytes), std::end(bytes),
                     [](const auto& value) { return bool(value); });
}

namespace {

void add(std::optional<double>& sum, double value) { sum = sum.value_or(0) + value; }

class Table {
 public:
  explicit Table(const Analysis& analysis)
      : analysis_(analysis), profile_(analysis.profile()), units_(analysis.unit_busy()) {}

  UnitTable finish();

 private:
  void add_engine(const UnitBusy& unit, const UnitBusy::OfEngine& of);
  void add_measures();
  void add_measures_of(Measure::Subject subject, const char* source);

  const Analysis& analysis_;
  const Profile& profile_;
  const std::vector<UnitBusy>& units_;
  UnitTable table_;
  EngineRow engines_[engine_count];
};

void Table::add_engine(const UnitBusy& unit, const UnitBusy::OfEngine& of) {
  EngineRow& row = engines_[std::size_t(of.engine)];
  const IntervalSet& busy = unit.busy_of(of);
  row.units += 1;
  row.work = saturating_add(row.work, of.work);
  const std::int64_t length = length_of(busy);
  if (row.busiest != UnitId::none && length <= row.domain) return;
  row.domain = length;
  row.busiest = unit.unit;
}

// A moment in which several wait counts for the one that is named first.
void divide_waits(const UnitBusy& unit, UnitRow& row) {
  IntervalSet earlier;  // waits of the kinds before
  const auto part = [&](const IntervalSet& waits) {
    if (waits.empty()) return std::int64_t{0};
    const IntervalSet alone = difference_of(difference_of(waits, unit.busy), earlier);
    earlier = earlier.empty() ? alone : union_of(earlier, alone);
    return length_of(alone);
  };
  row.waiting_for_dma = part(unit.dma_waits);
  row.at_syncs = part(unit.syncs);
  row.at_barriers = part(unit.barriers);
  row.waiting = saturating_add(row.waiting_for_dma, saturating_add(row.at_syncs, row.at_barriers));
}

void Table::add_measures() {
  const Spans& spans = profile_.spans;
  std::vector<UnitRow*> row_of(profile_.units.size() + 1, nullptr);
  for (UnitRow& row : table_.units) {
    row_of[std::min<std::size_t>(index_of(row.unit), profile_.units.size())] = &row;
  }
  const auto add_to_rows = [&](const MeasureColumn& measure, auto place_in) {
    for (std::size_t i = 0; i < spans.size(); ++i) {
      if (measure.values[i] == MeasureColumn::missing) continue;
      const auto value = double(measure.values[i]);
      place_in(table_, value);
      UnitRow* row = row_of[std::min<std::size_t>(index_of(spans.unit[i]), profile_.units.size())];
      if (row != nullptr) place_in(*row, value);
    }
  };
  const MeasureColumn* path = nullptr;
  for (const MeasureColumn& measure : spans.measures) {
    if (measure.values.size() != spans.size()) continue;
    if (measure.kind == MeasureKind::dominant_path &&
        (path == nullptr || path->origin == Origin::derived)) {
      path = &measure;
    }
    if (measure.kind != MeasureKind::count) continue;
    const auto route = memory_route_of(measure.meaning.role);
    if (!route) continue;
    add_to_rows(measure, [&](auto& row, double value) { add(row.traffic.of(*route), value); });
    table_.traffic_source = "spans";
  }
  if (path != nullptr) {
    add_to_rows(*path, [](auto& row, double value) { add(row.dominant_path, value); });
  }
  // The same bytes may be told at several levels: the finest one that has any counts.
  add_measures_of(Measure::Subject::unit, "units");
  add_measures_of(Measure::Subject::op, "ops");
  add_measures_of(Measure::Subject::profile, "the whole run");
}

void Table::add_measures_of(Measure::Subject subject, const char* source) {
  if (table_.traffic.known()) return;
  const bool of_units = subject == Measure::Subject::unit;
  const UnitsWithTraffic tell(profile_, of_units);
  for (const Measure& measure : profile_.measures) {
    if (measure.subject != subject || measure.kind != MeasureKind::count) continue;
    const auto route = memory_route_of(measure.meaning.role);
    if (!route) continue;
    if (!of_units || !tell.include(UnitId(measure.subject_id), *route)) {
      add(table_.traffic.of(*route), measure.value);
    }
    table_.traffic_source = source;
    if (!of_units) continue;
    const auto row = std::find_if(table_.units.begin(), table_.units.end(), [&](const auto& unit) {
      return index_of(unit.unit) == measure.subject_id;
    });
    if (row != table_.units.end()) {
      add(row->traffic.of(*route), measure.value);
    }
  }
}

UnitTable Table::finish() {
  table_.wall = length_of(analysis_.timeline_extent());
  for (std::size_t i = 0; i < engine_count; ++i) engines_[i].engine = Engine(i);
  for (const UnitBusy& unit : units_) {
    UnitRow& row = table_.units.emplace_back();
    row.unit = unit.unit;
    row.spans = unit.spans;
    row.work = unit.work;
    row.busy = length_of(unit.busy);
    for (const UnitBusy::OfEngine& of : unit.engines) add_engine(unit, of);
  }
  parallel_for(units_.size(), [&](std::size_t i) { divide_waits(units_[i], table_.units[i]); });
  for (std::size_t i = 0; i < engine_count; ++i) {
    engines_[i].active = length_of(analysis_.busy_together().engines[i]);
    if (engines_[i].units > 0) table_.engines.push_back(engines_[i]);
  }
  add_measures();
  return std::move(table_);
}

}  // namespace

UnitTable find_units(const Analysis& analysis) { return Table(analysis).finish(); }

std::vector<UnitGroupRow> find_unit_groups(const Analysis& analysis, UnitGrouping grouping) {
  const Profile& profile = analysis.profile();
  const std::vector<UnitBusy>& units = analysis.unit_busy();
  const CoreNumbers cores(profile);
  std::map<std::uint32_t, std::vector<const UnitBusy*>> members;
  for (const UnitBusy& unit : units) {
    if (index_of(unit.unit) >= profile.units.size()) continue;
    const bool by_core = grouping == UnitGrouping::core;
    const std::uint32_t device = profile.units[index_of(unit.unit)].device;
    members[by_core ? cores.of(unit.unit) : device].push_back(&unit);
  }
  std::vector<UnitGroupRow> rows;
  for (const auto& [key, group] : members) {
    UnitGroupRow& row = rows.emplace_back();
    row.name = grouping == UnitGrouping::core ? cores.name(key) : fmt::format("device {}", key);
    std::vector<Interval> busy, waits;
    for (const UnitBusy* unit : group) {
      row.units += 1;
      row.spans += unit->spans;
      row.work = saturating_add(row.work, unit->work);
      busy.insert(busy.end(), unit->busy.begin(), unit->busy.end());
      for (const auto* set : {&unit->syncs, &unit->barriers, &unit->dma_waits}) {
        waits.insert(waits.end(), set->begin(), set->end());
      }
    }
    const IntervalSet active = union_of(std::move(busy));
    row.active = length_of(active);
    row.waiting = length_of(difference_of(union_of(std::move(waits)), active));
  }
  return rows;
}

std::vector<SteadyUse> find_steady_use(const Analysis& analysis) {
  const Inferences& inferences = analysis.inferences();
  std::vector<SteadyUse> all;
  if (inferences.count() < 2) return all;
  const auto times = busiest_of_inferences(analysis, inferences);
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    std::vector<double> shares;
    bool any = false;
    for (const InferenceTimes& each : times) {
      const std::int64_t wall = length_of(each.extent);
      any = any || each.engines[engine].busiest > 0;
      if (wall > 0) shares.push_back(double(each.engines[engine].busiest) / double(wall));
    }
    if (any && !shares.empty()) all.push_back({Engine(engine), spread_of(shares)});
  }
  return all;
}

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
