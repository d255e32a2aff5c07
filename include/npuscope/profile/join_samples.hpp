// Samples of one program, each a profile of one inference with times of the same clock, as one
// profile of several inferences:
//
//   join_samples({inf-0, inf-2, inf-1})   // one profile, inferences 0, 1 and 2
//
// Joined are those of one program that have the same units, ops and edges, and whose inferences
// have different numbers and times one after the other; what differs otherwise stays by itself. A
// joined profile stands where its first sample stood.
#pragma once

#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

std::vector<Profile> join_samples(std::vector<Profile> profiles);

}  // namespace npuscope
