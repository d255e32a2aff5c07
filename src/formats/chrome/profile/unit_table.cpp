#include "formats/chrome/profile/unit_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profile/unit_processes.hpp"

namespace npuscope::chrome {
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
