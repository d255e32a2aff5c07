// Units of a profile, as readers add them:
//
//   const UnitId core = add_unit(profile, {.core = 1, .engine = Engine::core, .name = name});
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope {

inline UnitId add_unit(Profile& profile, const Unit& unit) {
  profile.units.push_back(unit);
  return UnitId(std::uint32_t(profile.units.size() - 1));
}

}  // namespace npuscope
