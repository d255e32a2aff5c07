// Readers intern what they meet, numbers in quotes included; once those have become columns nobody
// names them any more.
//
//   compact_strings(profile);   // the pool holds what the tables name, in order of use
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope {

void compact_strings(Profile& profile);

}  // namespace npuscope
