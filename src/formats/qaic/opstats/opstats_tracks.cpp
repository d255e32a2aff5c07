#include "formats/qaic/opstats/opstats_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/numbers.hpp"
#include "base/sort_rows.hpp"
#include "formats/qaic/opstats/opstats_files.hpp"
#include "formats/qaic/opstats/opstats_names.hpp"
#include "ingest/units.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope::qaic {
namespace {

using Kind = OpstatsTrack::Kind;

// Where a track lies, as far as names tell.
struct TrackPlace {
  Kind kind = Kind::host;
  std::uint32_t device = 0;
  std::string label;
  std::uint32_t core = 0;
  std::uint32_t replica = 0;  // of cores with one name in several processes (activations)
  std::string group;
  std::uint32_t lane = 0;
  bool is_merged = false;  // the threads of the group are not told apart
};

using CoreKey = std::tuple<std::uint32_t, std::string, std::uint32_t, std::uint32_t>;
CoreKey core_key(const TrackPlace& place) {
  return {place.device, place.label, place.replica, place.core};
}

class UnitBuilder {
 public:
  UnitBuilder(const std::vector<chrome::Thread>& threads, const chrome::Slices& slices,
              const MergedThreads& merged, Profile& profile)
      : threads_(threads),
        slices_(slices),
        merged_(merged),
        profile_(profile),
        places_(threads.size()) {}

  OpstatsTracks run() {
    for (std::size_t i = 0; i < threads_.size(); ++i) places_[i] = place_of(threads_[i]);
    name_groups_by_waits();
    tell_replicas_apart();
    profile_.base_clock = ClockId{0};
    profile_.add_clock("UTIMER", ClockKind::timer, aic_utimer, true);
    tracks_.of_thread.resize(threads_.size());
    add_device_units();
    add_host_units();
    return std::move(tracks_);
  }

 private:
  std::string_view text(StringId id) const { return profile_.strings[id]; }
  StringId intern(std::string_view value) { return profile_.strings.intern(value); }

  void add_threads(UnitId unit, std::uint32_t threads) {
    if (threads < 2) return;
    profile_.add_measure(Measure::Subject::unit, index_of(unit), threads_of_unit, Origin::derived,
                         ClockId{}, double(threads));
  }

  TrackPlace place_of(const chrome::Thread& thread) const;
  void name_groups_by_waits();
  void tell_replicas_apart();
  void add_device_units();
  void add_core(const CoreKey& key, const std::vector<std::size_t>& members);
  void add_host_units();

  const std::vector<chrome::Thread>& threads_;
  const chrome::Slices& slices_;
  const MergedThreads& merged_;
  Profile& profile_;
  std::vector<TrackPlace> places_;
  OpstatsTracks tracks_;
  std::map<std::pair<std::uint32_t, std::string>, UnitId> devices_;
};

TrackPlace UnitBuilder::place_of(const chrome::Thread& thread) const {
  TrackPlace place;
  const ProcessName process = parse_process_name(text(thread.process_name));
  if (const auto track = parse_track_name(text(thread.thread_name))) {
    constexpr Kind kinds[] = {Kind::core, Kind::engine, Kind::dma, Kind::barrier};
    place.kind = kinds[std::size_t(track->kind)];
    place.label = std::string(track->label);
    place.core = track->core;
    place.group = std::string(track->group);
    place.lane = track->thread.value_or(first_thread_of_group(place.group));
    place.is_merged = place.kind == Kind::engine && !track->thread;
  } else if (process.core) {
    // Threads that are only numbered; an event without a thread is the core's.
    const auto number = parse_number<std::uint32_t>(text(thread.thread_id));
    place.kind = number ? Kind::engine : Kind::core;
    place.label = std::string(process.label);
    place.core = *process.core;
    place.lane = number.value_or(0);
    if (number) place.group = std::string(group_of_thread(*number));
  } else {
    return place;
  }
  place.device = slice_number(place.label).value_or(process.device.value_or(0));
  return place;
}

// A wait names its group: "sync HMX-3" is more certain than the thread's number.
void UnitBuilder::name_groups_by_waits() {
  std::set<std::uint32_t> unsure;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (places_[i].kind == Kind::engine && !parse_track_name(text(threads_[i].thread_name))) {
      unsure.insert(std::uint32_t(i));
    }
  }
  for (std::size_t row = 0; row < slices_.size() && !unsure.empty(); ++row) {
    const auto thread = slices_.thread[row];
    if (!unsure.contains(thread)) continue;
    const SliceName name = parse_slice_name(text(slices_.name[row]), {});
    if (name.group.empty()) continue;
    places_[thread].group = std::string(name.group);
    unsure.erase(thread);
  }
  for (const std::uint32_t thread : unsure) {
    if (places_[thread].group.empty()) {
      places_[thread].group = fmt::format("thread {}", places_[thread].lane);
    }
  }
}

// A process per core, but cores of the same name in several processes: activations of one network.
void UnitBuilder::tell_replicas_apart() {
  std::map<std::pair<CoreKey, StringId>, std::set<StringId>> processes_of_name;
  bool any = false;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (places_[i].kind == Kind::host || threads_[i].thread_name == StringId::empty) continue;
    auto& processes = processes_of_name[{core_key(places_[i]), threads_[i].thread_name}];
    processes.insert(threads_[i].process_id);
    any = any || processes.size() > 1;
  }
  if (!any) return;
  std::map<CoreKey, std::vector<StringId>> processes_of_core;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (places_[i].kind == Kind::host) continue;
    auto& processes = processes_of_core[core_key(places_[i])];
    const auto found = std::find(processes.begin(), processes.end(), threads_[i].process_id);
    const auto replica = std::uint32_t(found - processes.begin());
    if (found == processes.end()) processes.push_back(threads_[i].process_id);
    places_[i].replica = replica;
  }
}

void UnitBuilder::add_device_units() {
  std::map<CoreKey, std::vector<std::size_t>> cores;
  std::map<std::string, std::set<std::uint32_t>> devices_of_label;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (places_[i].kind == Kind::host) continue;
    cores[core_key(places_[i])].push_back(i);
    devices_of_label[places_[i].label].insert(places_[i].device);
  }
  for (const auto& [label, devices] : devices_of_label) {
    if (!label.empty()) tracks_.labels.push_back(label);
    for (const std::uint32_t device : devices) {
      std::string name = label.empty() ? "device" : label;
      if (devices.size() > 1) name += fmt::format(" device {}", device);
      devices_[{device, label}] =
          add_unit(profile_, {device, 0, Engine::device, 0, intern(name), UnitId::none, {}, {}});
    }
  }
  for (const auto& [key, members] : cores) add_core(key, members);
}

void UnitBuilder::add_core(const CoreKey& key, const std::vector<std::size_t>& members) {
  const chrome::Thread& first = threads_[members.front()];
  const TrackPlace& place = places_[members.front()];
  const UnitId device = devices_.at({place.device, place.label});
  std::string name = place.label.empty() ? fmt::format("Core_{}", place.core)
                                         : fmt::format("{}_Core_{}", place.label, place.core);
  if (std::get<2>(key) > 0) name += fmt::format(" ({})", std::get<2>(key) + 1);
  const UnitId core = add_unit(
      profile_,
      {place.device, place.core, Engine::core, 0, intern(name), device, first.process_id, {}});
  profile_.add_clock(fmt::format("{} cycles", name), ClockKind::unit_cycles, Hertz{0});
  std::vector<std::size_t> sorted = members;
  sort_rows(sorted.begin(), sorted.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(places_[a].lane, places_[a].group, places_[a].kind) <
           std::tie(places_[b].lane, places_[b].group, places_[b].kind);
  });
  std::map<std::string, std::uint32_t> groups;
  std::map<std::pair<std::string, std::uint32_t>, UnitId> engines, transfers;
  for (const std::size_t i : sorted) {
    const TrackPlace& at = places_[i];
    OpstatsTrack& track = tracks_.of_thread[i];
    track = {at.kind, core, device, core, 0, 1, false};
    if (at.is_merged) track.threads = merged_.of_group(at.group);
    const auto [group, is_new] = groups.try_emplace(at.group, std::uint32_t(tracks_.groups.size()));
    if (is_new) {
      // The core's own track is of no group.
      const auto number = std::uint32_t(groups.size() - 1 - groups.count(""));
      tracks_.groups.push_back({at.core, at.group.empty() ? 0 : number});
    }
    track.group = group->second;
    if (at.kind == Kind::core) continue;
    const auto [engine, new_engine] = engines.try_emplace({at.group, at.lane}, UnitId::none);
    if (new_engine) {
      engine->second = add_unit(
          profile_, {at.device, at.core, engine_of_group(at.group), at.lane, intern(at.group), core,
                     threads_[i].process_id, threads_[i].thread_id});
      add_threads(engine->second, track.threads);
    }
    track.unit = engine->second;
    if (at.kind != Kind::dma) continue;
    const auto [transfer, new_transfer] = transfers.try_emplace({at.group, at.lane}, UnitId::none);
    if (new_transfer) {
      transfer->second =
          add_unit(profile_, {at.device, at.core, Engine::dma, at.lane, intern(at.group + "_DMA"),
                              engine->second, threads_[i].process_id, threads_[i].thread_id});
    }
    track.unit = transfer->second;
  }
}

void UnitBuilder::add_host_units() {
  std::map<StringId, UnitId> processes;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (places_[i].kind != Kind::host) continue;
    const chrome::Thread& thread = threads_[i];
    const bool is_host = parse_process_name(text(thread.process_name)).is_host;
    const auto name_of = [&](StringId given, std::string_view what, StringId id) {
      return given != StringId::empty ? given : intern(fmt::format("{} {}", what, text(id)));
    };
    const auto [process, is_new] = processes.try_emplace(thread.process_id, UnitId::none);
    if (is_new) {
      process->second =
          add_unit(profile_, {0,
                              0,
                              is_host ? Engine::host : Engine::process,
                              0,
                              name_of(thread.process_name, "process", thread.process_id),
                              UnitId::none,
                              thread.process_id,
                              {}});
    }
    UnitId unit = process->second;
    if (thread.thread_id != StringId::empty) {
      unit = add_unit(profile_, {0, 0, is_host ? Engine::host : Engine::thread, 0,
                                 name_of(thread.thread_name, "thread", thread.thread_id),
                                 process->second, thread.process_id, thread.thread_id});
    }
    tracks_.of_thread[i] = {
        Kind::host, unit,   process->second, UnitId::none, std::uint32_t(tracks_.groups.size()),
        1,          is_host};
    tracks_.groups.push_back({});
  }
}

}  // namespace

MergedThreads::MergedThreads(std::string_view other_data, bool is_own) : is_own_(is_own) {
  constexpr std::string_view key = "\"merged_threads\"";
  const auto at = other_data.find(key);
  if (!is_own || at == other_data.npos) return;
  told_ = other_data.substr(at + key.size());
  told_ = told_.substr(0, told_.find('}'));
}

std::uint32_t MergedThreads::of_group(std::string_view group) const {
  if (!is_own_) return threads_of_group(group);
  const std::string key = fmt::format("\"{}\": \"", group);
  const auto at = told_.find(key);
  if (at == told_.npos) return 1;
  const std::string_view rest = told_.substr(at + key.size());
  constexpr std::uint32_t max = 64;  // of a core, for a forged number
  return std::clamp(parse_number<std::uint32_t>(rest.substr(0, rest.find('"'))).value_or(1), 1u,
                    max);
}

OpstatsTracks add_opstats_units(const std::vector<chrome::Thread>& threads,
                                const chrome::Slices& slices, const MergedThreads& merged,
                                Profile& profile) {
  return UnitBuilder(threads, slices, merged, profile).run();
}

}  // namespace npuscope::qaic
