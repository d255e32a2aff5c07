#include "analysis/units/merged_tracks.hpp"

#include <algorithm>
#include <map>
#include <tuple>

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

}  // namespace npuscope::analysis
