// Profiles of which records are missing because a file was cut off or damaged: what is said of them
// wherever a figure of theirs stands.
//
//   damage_text(profile)       damaged: the file ends in the middle (byte 2,891); all figures are
//   of
//                              what could be read
//   damage_sentence(profile)   trace.json: damaged: the file ends ...
#pragma once

#include <string>

#include "npuscope/profile/profile.hpp"

namespace npuscope::report {

// Whether any of the profile's notes is an error.
bool is_damaged(const Profile& profile);

// Names the first of the losses. Empty where the profile is not damaged.
std::string damage_text(const Profile& profile);
std::string damage_sentence(const Profile& profile);

}  // namespace npuscope::report
