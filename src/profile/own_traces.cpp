#include "profile/own_traces.hpp"

#include <algorithm>
#include <unordered_map>

namespace npuscope {
namespace {

void cut_rings(std::vector<Phase>& phases) {
  enum : std::uint8_t { fresh, on_path, done };
  std::vector<std::uint8_t> state(phases.size(), fresh);
  std::vector<std::uint32_t> path;
  for (std::uint32_t phase = 0; phase < phases.size(); ++phase) {
    path.clear();
    std::uint32_t at = phase;
    for (; at < phases.size() && state[at] == fresh; at = phases[at].parent) {
      state[at] = on_path;
      path.push_back(at);
    }
    if (at < phases.size() && state[at] == on_path) phases[at].parent = outermost_phase;
    for (const std::uint32_t seen : path) state[seen] = done;
  }
}

}  // namespace

void add_phases(std::vector<NumberedPhase> phases, Profile& profile) {
  std::stable_sort(
      phases.begin(), phases.end(),
      [](const NumberedPhase& a, const NumberedPhase& b) { return a.number < b.number; });
  std::unordered_map<std::int64_t, std::uint32_t> place_of;
  const auto first = std::uint32_t(profile.phases.size());
  for (std::uint32_t i = 0; i < phases.size(); ++i) {
    place_of.try_emplace(phases[i].number, first + i);
  }
  for (NumberedPhase& told : phases) {
    const auto parent = place_of.find(told.parent);
    if (told.phase.parent == outermost_phase && parent != place_of.end()) {
      told.phase.parent = parent->second;
    }
    if (index_of(told.phase.unit) >= profile.units.size()) told.phase.unit = UnitId::none;
    for (Measure& measure : told.measures) {
      measure.subject_id = std::uint32_t(profile.phases.size());
      profile.measures.push_back(measure);
    }
    profile.phases.push_back(told.phase);
  }
  cut_rings(profile.phases);
}

std::uint64_t hardware_units(const Profile& profile) {
  return std::uint64_t(
      std::count_if(profile.units.begin(), profile.units.end(), [](const Unit& unit) {
        return unit.engine != Engine::process && unit.engine != Engine::thread &&
               unit.engine != Engine::other && unit.engine != Engine::none;
      }));
}

std::uint64_t ops_without_span(const Profile& profile) {
  std::vector<bool> executed(profile.ops.size(), false);
  for (const OpId op : profile.spans.op) {
    if (index_of(op) < executed.size()) executed[index_of(op)] = true;
  }
  return std::uint64_t(std::count(executed.begin(), executed.end(), false));
}

std::uint64_t numbers_of_spans(const Profile& profile) {
  std::uint64_t numbers = 0;
  for (const MeasureColumn& column : profile.spans.measures) {
    const auto missing =
        std::count(column.values.begin(), column.values.end(), MeasureColumn::missing);
    numbers += column.values.size() - std::size_t(missing);
  }
  return numbers;
}

}  // namespace npuscope
