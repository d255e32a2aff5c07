// Tracks of one name that a viewer draws as one: slots of an engine in a Perfetto trace, of the
// same parent and without a thread of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/units/unit_busy.hpp"

namespace npuscope::analysis {

// By unit, the first that it is drawn with; empty where each is drawn alone.
std::vector<std::uint32_t> drawn_with(const Profile& profile);

// One entry of those that are drawn as one, in place of the first.
void merge_tracks(const Profile& profile, std::vector<UnitBusy>& units);

}  // namespace npuscope::analysis
