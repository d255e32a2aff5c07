#include "profile/unit_processes.hpp"

#include <unordered_map>

namespace npuscope {

void number_namesakes(Profile& profile) {
  std::unordered_map<StringId, std::uint32_t> count;
  for (Unit& unit : profile.units) {
    if (unit.engine == Engine::process) unit.lane = count[unit.name]++;
  }
}

}  // namespace npuscope
