#include "npuscope/profile/unit_path.hpp"

#include <fmt/format.h>

namespace npuscope {
namespace {

bool computes_or_moves(Engine engine) {
  return engine == Engine::hvx || engine == Engine::hmx || engine == Engine::compute ||
         engine == Engine::dma_issue || engine == Engine::dma;
}

// Threads of one kind often share a name: "HVX" of lane 2 is "HVX 2". So do processes: "python" is
// the first, "python (4711)" another.
std::string name_of_unit(const Profile& profile, const Unit& unit) {
  const std::string name(profile.text(unit.name));
  if (name.empty()) return fmt::format("{} {}", name_of(unit.engine), unit.lane);
  if (unit.engine == Engine::process && unit.lane > 0) {
    return fmt::format("{} ({})", name, profile.text(unit.process_id));
  }
  const bool is_lane = unit.parent != UnitId::none && computes_or_moves(unit.engine);
  const bool numbered = name.find_first_of("0123456789") != std::string::npos;
  return is_lane && !numbered ? fmt::format("{} {}", name, unit.lane) : name;
}

}  // namespace

std::string path_of(const Profile& profile, UnitId unit) {
  constexpr int deepest = 16;  // parents may form a ring in a forged profile
  std::string path;
  for (int depth = 0; depth < deepest && index_of(unit) < profile.units.size(); ++depth) {
    const Unit& here = profile.units[index_of(unit)];
    const std::string name = name_of_unit(profile, here);
    path = path.empty() ? name : name + " > " + path;
    unit = here.parent;
  }
  return path.empty() ? "(no unit)" : path;
}

}  // namespace npuscope
