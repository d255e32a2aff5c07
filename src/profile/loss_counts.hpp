// How much there is of what no trace format has a place for: the counts of losses.
#pragma once

#include <cstdint>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

// Units that stand for hardware, not for a process, a thread or a track.
std::uint64_t hardware_units(const Profile& profile);
std::uint64_t ops_without_span(const Profile& profile);
// Numbers in the columns beside the spans that are not missing.
std::uint64_t numbers_of_spans(const Profile& profile);

}  // namespace npuscope
