// What `npuscope convert` wrote of a profile beside its events, so that opening the file again does
// not take it for another's: whose times they are, and which slices were phases.
#pragma once

#include "formats/chrome/events.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

bool is_own_export(const Events& events);

// Clock, device, graph and the like from `other_data`, the member of that name. A clock without a
// known rate stays one: its ticks were written as nanoseconds and are read as they were.
void restore_provenance(std::string_view other_data, Profile& profile);

// What a slice is, from the argument that says so: waiting is no work.
void restore_kinds(Profile& profile);

// Slices of the process "phases" become phases.
void restore_phases(Profile& profile);

}  // namespace npuscope::chrome
