// What a unit is called within its parents:  path_of(profile, unit)   "card 0 > core 3 > HVX 1"
#pragma once

#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

std::string path_of(const Profile& profile, UnitId unit);

}  // namespace npuscope
