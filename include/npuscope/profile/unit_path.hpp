// What a unit is called within its parents:  path_of(profile, unit)   "core 3 > HVX 1"
//   unit_path(profile, unit)    {.within = "core 3", .name = "HVX 1"}
//
// The only device of a profile is not named, nor what issues the transfers of a DMA ("core 3 > DMA
// 1"), nor in a unit's name what its parent is called already.
#pragma once

#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

inline constexpr const char* unit_path_separator = " > ";

struct UnitPath {
  std::string within;  // of its parents; empty without any
  std::string name;
};

UnitPath unit_path(const Profile& profile, UnitId unit);
std::string path_of(const Profile& profile, UnitId unit);

}  // namespace npuscope
