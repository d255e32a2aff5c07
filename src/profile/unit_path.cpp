#include "npuscope/profile/unit_path.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {
namespace {

bool computes_or_moves(Engine engine) {
  return engine == Engine::hvx || engine == Engine::hmx || engine == Engine::compute ||
         engine == Engine::dma_issue || engine == Engine::dma;
}

const Unit* parent_of(const Profile& profile, const Unit& unit) {
  const std::size_t parent = index_of(unit.parent);
  return parent < profile.units.size() ? &profile.units[parent] : nullptr;
}

// Without what its parent is called already: "DMAIssue_DMA" within "DMAIssue" is "DMA".
std::string_view own_name(const Profile& profile, const Unit& unit) {
  const std::string_view name = profile.text(unit.name);
  const Unit* const parent = parent_of(profile, unit);
  if (parent == nullptr) return name;
  const std::string_view before = profile.text(parent->name);
  const bool repeats = !before.empty() && name.size() > before.size() + 1 &&
                       name.starts_with(before) && name[before.size()] == '_';
  return repeats ? name.substr(before.size() + 1) : name;
}

// Threads of one kind often share a name: "HVX" of lane 2 is "HVX 2". So do processes: "python" is
// the first, "python (4711)" another.
std::string name_of_unit(const Profile& profile, const Unit& unit) {
  const std::string name(own_name(profile, unit));
  if (name.empty()) return fmt::format("{} {}", name_of(unit.engine), unit.lane);
  if (unit.engine == Engine::process && unit.lane > 0) {
    return fmt::format("{} ({})", name, profile.text(unit.process_id));
  }
  if (unit.engine == Engine::core && name == fmt::format("Core_{}", unit.core)) {
    return fmt::format("core {}", unit.core);
  }
  const bool is_lane = unit.parent != UnitId::none && computes_or_moves(unit.engine);
  const bool numbered = name.find_first_of("0123456789") != std::string::npos;
  return is_lane && !numbered ? fmt::format("{} {}", name, unit.lane) : name;
}

// Units are counted for each path: where there are very many, the device is named.
bool has_one_device(const Profile& profile) {
  constexpr std::size_t most = 4096;
  return profile.units.size() <= most &&
         std::ranges::count(profile.units, Engine::device, &Unit::engine) == 1;
}

// What says nothing of where a unit is: the only device, and what issues the transfers of a DMA.
bool is_left_out(const Profile& profile, const Unit& within, const Unit& unit) {
  if (within.engine == Engine::dma_issue) return unit.engine == Engine::dma;
  return within.engine == Engine::device && within.parent == UnitId::none &&
         has_one_device(profile);
}

}  // namespace

UnitPath unit_path(const Profile& profile, UnitId unit) {
  if (index_of(unit) >= profile.units.size()) return {"", "(no unit)"};
  constexpr int deepest = 16;  // parents may form a ring in a forged profile
  const Unit* here = &profile.units[index_of(unit)];
  UnitPath path{"", name_of_unit(profile, *here)};
  const Unit* within = parent_of(profile, *here);
  for (int depth = 1; depth < deepest && within != nullptr; ++depth) {
    if (!is_left_out(profile, *within, *here)) {
      path.within.insert(0, path.within.empty() ? "" : unit_path_separator);
      path.within.insert(0, name_of_unit(profile, *within));
    }
    here = within;
    within = parent_of(profile, *here);
  }
  return path;
}

std::string path_of(const Profile& profile, UnitId unit) {
  UnitPath path = unit_path(profile, unit);
  return path.within.empty() ? std::move(path.name) : path.within + unit_path_separator + path.name;
}

}  // namespace npuscope
