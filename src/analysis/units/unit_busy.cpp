#include "analysis/units/unit_busy.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <tuple>

#include "analysis/answers.hpp"
#include "analysis/self_times.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "profile/interval_sets.hpp"

namespace npuscope::analysis {

std::vector<std::uint32_t> drawn_with(const Profile& profile) {
  using Key = std::tuple<std::uint32_t, StringId, std::uint32_t, Engine>;
  std::map<Key, std::uint32_t> known;
  std::vector<std::uint32_t> with(profile.units.size());
  bool any = false;
  for (std::uint32_t i = 0; i < with.size(); ++i) {
    with[i] = i;
    const Unit& unit = profile.units[i];
    const bool may_share =
        unit.name != StringId::empty && unit.lane == 0 && unit.thread_id == StringId::empty &&
        unit.process_id == StringId::empty && index_of(unit.parent) < with.size();
    if (!may_share) continue;
    const std::uint32_t parent = index_of(unit.parent);
    const std::uint32_t within = parent < i ? with[parent] : parent;
    const std::uint32_t place = unit.device << 16 ^ unit.core;
    const auto [first, is_new] = known.try_emplace(Key{within, unit.name, place, unit.engine}, i);
    if (is_new) continue;
    with[i] = first->second;
    any = true;
  }
  if (!any) with.clear();
  return with;
}

namespace {

UnitBusy merged(const std::vector<const UnitBusy*>& tracks) {
  UnitBusy all;
  all.unit = tracks.front()->unit;
  std::vector<const IntervalSet*> busy, syncs, barriers, dma_waits;
  struct Class {
    std::int64_t work = 0;
    std::vector<const IntervalSet*> busy;
  };
  std::map<Engine, Class> engines;
  std::map<Domain, Class> domains;
  for (const UnitBusy* track : tracks) {
    all.spans += track->spans;
    all.work = saturating_add(all.work, track->work);
    all.wait_engines |= track->wait_engines;
    busy.push_back(&track->busy);
    syncs.push_back(&track->syncs);
    barriers.push_back(&track->barriers);
    dma_waits.push_back(&track->dma_waits);
    for (const UnitBusy::OfEngine& of : track->engines) {
      Class& engine = engines[of.engine];
      engine.work = saturating_add(engine.work, of.work);
      engine.busy.push_back(&track->busy_of(of));
    }
    for (const UnitBusy::OfDomain& of : track->domains) {
      domains[of.domain].busy.push_back(&track->busy_of(of));
    }
  }
  all.busy = union_of_many(std::move(busy));
  all.syncs = union_of_many(std::move(syncs));
  all.barriers = union_of_many(std::move(barriers));
  all.dma_waits = union_of_many(std::move(dma_waits));
  for (auto& [engine, of] : engines) {
    IntervalSet set;
    if (engines.size() > 1) set = union_of_many(std::move(of.busy));
    all.engines.push_back({engine, of.work, std::move(set)});
  }
  for (auto& [domain, of] : domains) {
    IntervalSet set;
    if (domains.size() > 1) set = union_of_many(std::move(of.busy));
    all.domains.push_back({domain, std::move(set)});
  }
  return all;
}

}  // namespace

void merge_tracks(const Profile& profile, std::vector<UnitBusy>& units) {
  const std::vector<std::uint32_t> with = drawn_with(profile);
  if (with.empty()) return;
  std::map<std::uint32_t, std::vector<const UnitBusy*>> drawn;
  for (const UnitBusy& unit : units) {
    const std::uint32_t id = index_of(unit.unit);
    drawn[id < with.size() ? with[id] : id].push_back(&unit);
  }
  std::vector<UnitBusy> all;
  for (const auto& [first, tracks] : drawn) {
    if (tracks.size() == 1) {
      all.push_back(*tracks.front());
    } else {
      all.push_back(merged(tracks));
    }
    if (first < with.size()) all.back().unit = UnitId(first);
  }
  units = std::move(all);
}

namespace {

// The work of one unit on one engine, in one domain.
struct WorkOfClass {
  bool any = false;
  std::int64_t work = 0;
  IntervalSet busy;
};
using WorkOfClasses = std::array<WorkOfClass, engine_count * domain_count>;

constexpr std::size_t place_of(std::size_t engine, std::size_t domain) {
  return engine * domain_count + domain;
}

void divide(WorkOfClasses& classes, UnitBusy& of) {
  bool in_domain[domain_count] = {};
  for (std::size_t engine = 0; engine < engine_count; ++engine) {
    UnitBusy::OfEngine of_engine{Engine(engine), 0, {}};
    bool any = false;
    for (std::size_t domain = 0; domain < domain_count; ++domain) {
      const WorkOfClass& each = classes[place_of(engine, domain)];
      if (!each.any) continue;
      any = in_domain[domain] = true;
      of_engine.work = saturating_add(of_engine.work, each.work);
    }
    if (!any) continue;
    of.work = saturating_add(of.work, of_engine.work);
    of.engines.push_back(std::move(of_engine));
  }
  for (std::size_t domain = 0; domain < domain_count; ++domain) {
    if (in_domain[domain]) of.domains.push_back({Domain(domain), {}});
  }
  if (of.engines.size() == 1 && of.domains.size() == 1) {
    const auto engine = std::size_t(of.engines[0].engine);
    of.busy = std::move(classes[place_of(engine, std::size_t(of.domains[0].domain))].busy);
    return;
  }
  const auto unite = [&](const auto& is_part) {
    std::vector<const IntervalSet*> sets;
    for (std::size_t engine = 0; engine < engine_count; ++engine) {
      for (std::size_t domain = 0; domain < domain_count; ++domain) {
        if (is_part(engine, domain)) sets.push_back(&classes[place_of(engine, domain)].busy);
      }
    }
    return union_of_many(std::move(sets));
  };
  of.busy = unite([](std::size_t, std::size_t) { return true; });
  for (auto& each : of.engines) {
    if (of.engines.size() == 1) break;
    each.busy =
        unite([&](std::size_t engine, std::size_t) { return Engine(engine) == each.engine; });
  }
  for (auto& each : of.domains) {
    if (of.domains.size() == 1) break;
    each.busy =
        unite([&](std::size_t, std::size_t domain) { return Domain(domain) == each.domain; });
  }
}

// What a span is to its unit, as one number: its role, the engine and the domain.
class ClassesOfSpans {
 public:
  static constexpr std::uint8_t nothing = 0xff, waits = 0x80;

  std::uint8_t of(Engine lane, Engine of_op, SpanKind kind) const {
    return of_[PlaceOfSpan::of(lane, of_op, kind)];
  }

 private:
  static_assert(engine_count * domain_count < waits);
  static std::uint8_t find(Engine lane, Engine of_op, SpanKind kind) {
    const Role role = role_of(kind);
    if (role != Role::work && role != Role::wait) return nothing;
    const Engine engine = engine_of(of_op, lane, kind);
    const std::size_t place = place_of(std::size_t(engine), std::size_t(domain_of(engine, kind)));
    return std::uint8_t(place | (role == Role::wait ? waits : 0));
  }

  const std::array<std::uint8_t, PlaceOfSpan::count> of_ = PlaceOfSpan::table<std::uint8_t>(find);
};

// What is known of one unit while its spans come one after another.
class BusyCollector {
 public:
  // Of a span, its number among ClassesOfSpans. False: it begins before an earlier one of its sort.
  bool add(std::uint8_t its_class, SpanKind kind, Interval interval, std::int64_t own) {
    if (its_class == ClassesOfSpans::nothing) return true;
    if (its_class < ClassesOfSpans::waits) {
      WorkOfClass& its = classes_[its_class];
      if (!its.any) its.busy.reserve(of_.spans == 0 ? expected_ : 0);
      its.any = true;
      its.work = saturating_add(its.work, own);
      of_.spans += 1;
      return append_in_order(its.busy, interval);
    }
    const std::size_t engine = its_class % ClassesOfSpans::waits / domain_count;
    of_.wait_engines |= std::uint16_t(1u << engine);
    return append_in_order(waits_of(kind), interval);
  }

  // Those of later spans. False: they do not come after these.
  bool add(const BusyCollector& later) {
    bool in_order = true;
    for (std::size_t place = 0; place < classes_.size(); ++place) {
      const WorkOfClass& from = later.classes_[place];
      WorkOfClass& to = classes_[place];
      if (!from.any) continue;
      to.any = true;
      to.work = saturating_add(to.work, from.work);
      in_order = append_all(to.busy, from.busy) && in_order;
    }
    of_.spans += later.of_.spans;
    of_.wait_engines |= later.of_.wait_engines;
    in_order = append_all(of_.syncs, later.of_.syncs) && in_order;
    in_order = append_all(of_.barriers, later.of_.barriers) && in_order;
    return append_all(of_.dma_waits, later.of_.dma_waits) && in_order;
  }

  void expect(std::size_t spans) { expected_ = spans; }

  UnitBusy finish(UnitId unit, const IntervalSet& held) {
    of_.unit = unit;
    if (!held.empty()) {
      for (WorkOfClass& each : classes_) each.busy = difference_of(each.busy, held);
    }
    divide(classes_, of_);
    return std::move(of_);
  }

 private:
  IntervalSet& waits_of(SpanKind kind) {
    if (kind == SpanKind::dma_wait) return of_.dma_waits;
    return kind == SpanKind::sync || kind == SpanKind::wait ? of_.syncs : of_.barriers;
  }

  static bool append_in_order(IntervalSet& set, Interval interval) {
    const bool in_order = set.empty() || interval.begin >= set.back().begin;
    append(set, interval);
    return in_order;
  }

  WorkOfClasses classes_;
  UnitBusy of_;
  std::size_t expected_ = 0;
};

UnitBusy busy_of(const Profile& profile, UnitId unit, SpansOfUnit spans, const SpanEngines& engines,
                 const ClassesOfSpans& classes, std::vector<std::int64_t>& own) {
  find_self_times(profile, spans, own);
  BusyCollector collector;
  collector.expect(spans.size());
  const Engine lane = engines.lane(unit);
  for (std::size_t place = 0; place < spans.size(); ++place) {
    const SpanOfUnit& span = spans[place];
    collector.add(classes.of(lane, engines.of_op(span.op), span.kind), span.kind, span.interval(),
                  own[place]);
  }
  return collector.finish(unit, held_up(profile, unit, spans));
}

// From the rows as they come, where those of each unit come in the order of time: nothing has to be
// sorted then. Nothing where they do not, or a unit may be held up within work.
std::vector<UnitBusy> busy_by_rows(const Analysis& analysis, const SpanEngines& engines,
                                   const ClassesOfSpans& classes) {
  constexpr std::size_t min_rows = 65'536, rows_a_unit = 1'024;  // for less it is not worth it
  constexpr std::size_t looks_up_after = 4'096;  // rows, whether other parts are in order
  const Profile& profile = analysis.profile();
  const Spans& spans = profile.spans;
  const std::size_t units = profile.units.size();
  if (spans.size() < std::max(min_rows, rows_a_unit * (units + 1))) return {};
  if (!spans.held_up.empty()) return {};
  if (std::find(spans.kind.begin(), spans.kind.end(), SpanKind::wait) != spans.kind.end()) {
    return {};
  }
  const SelfTimes& own = analysis.self_times();
  // No more than run at once: what later parts found is copied.
  const std::size_t min_of_part = spans.size() / std::min<std::size_t>(workers(), 4);
  const std::vector<RowRange> ranges = ranges_of(spans.size(), min_of_part);
  std::vector<std::vector<BusyCollector>> parts(ranges.size());
  std::atomic<bool> in_order = true;
  parallel_for(parts.size(), [&](std::size_t part) {
    parts[part].resize(units + 1);
    // Room that nobody writes to costs nothing; the first part takes up the others.
    const std::size_t rows = ranges[part].last - ranges[part].first;
    const std::size_t room = (part == 0 ? spans.size() : rows) / (units + 1) * 5 / 4;
    for (BusyCollector& collector : parts[part]) collector.expect(room);
    BusyCollector* const of_units = parts[part].data();
    const std::size_t last = ranges[part].last;
    for (std::size_t row = ranges[part].first; row < last; ++row) {
      if (row % looks_up_after == 0 && !in_order) return;
      const UnitId unit = spans.unit[row];
      const SpanKind kind = spans.kind[row];
      const std::uint8_t its_class =
          classes.of(engines.lane(unit), engines.of_op(spans.op[row]), kind);
      BusyCollector& collector = of_units[std::min<std::size_t>(index_of(unit), units)];
      if (collector.add(its_class, kind, interval_of(spans, row), own[row])) continue;
      in_order = false;
      return;
    }
  });
  std::vector<UnitBusy> all(units + 1);
  parallel_for(all.size(), [&](std::size_t unit) {
    BusyCollector& collector = parts[0][unit];
    for (std::size_t part = 1; in_order && part < parts.size(); ++part) {
      if (!collector.add(parts[part][unit])) in_order = false;
      parts[part][unit] = {};
    }
    all[unit] = collector.finish(unit < units ? UnitId(std::uint32_t(unit)) : UnitId::none, {});
  });
  if (!in_order) return {};
  return all;
}

std::vector<UnitBusy> busy_by_unit(const Analysis& analysis, const SpanEngines& engines,
                                   const ClassesOfSpans& classes) {
  const Profile& profile = analysis.profile();
  const SpansByUnit& by_unit = analysis.spans_by_unit();
  std::vector<UnitBusy> all(profile.units.size() + 1);
  PerThread<std::vector<std::int64_t>> own;
  parallel_for(all.size(), [&](std::size_t i) {
    const UnitId unit = i < profile.units.size() ? UnitId(std::uint32_t(i)) : UnitId::none;
    all[i] = busy_of(profile, unit, by_unit.spans_of(unit), engines, classes, own.mine());
  });
  return all;
}

}  // namespace

std::vector<UnitBusy> find_unit_busy(const Analysis& analysis, bool by_unit) {
  const SpanEngines engines(analysis.profile());
  const ClassesOfSpans classes;
  std::vector<UnitBusy> all;
  if (!by_unit) all = busy_by_rows(analysis, engines, classes);
  if (all.empty()) all = busy_by_unit(analysis, engines, classes);
  std::erase_if(all, [](const UnitBusy& each) {
    return each.spans == 0 && each.syncs.empty() && each.barriers.empty() && each.dma_waits.empty();
  });
  merge_tracks(analysis.profile(), all);
  return all;
}

}  // namespace npuscope::analysis
