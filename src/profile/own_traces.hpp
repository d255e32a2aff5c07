// What a trace of ours says of its profile where no format has a place for it: numbered phases,
// losses.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

// Phases as a trace of ours tells them: in any order, each with the number that it had in the
// table.
struct NumberedPhase {
  std::int64_t number =
      std::numeric_limits<std::int64_t>::max();  // none: after those that have one
  // Number of the phase that it is part of; counts only where phase.parent is outermost_phase.
  std::int64_t parent = -1;
  Phase phase;
  std::vector<Measure> measures;  // about it
};

// Adds them in the order of their numbers. Nobody need have written them in good faith: who has a
// parent that is not there, or is part of itself, is of none, and units that do not exist are left
// out.
void add_phases(std::vector<NumberedPhase> phases, Profile& profile);

// How much there is of what no trace format has a place for: the counts of losses.

// Units that stand for hardware, not for a process, a thread or a track.
std::uint64_t hardware_units(const Profile& profile);
std::uint64_t ops_without_span(const Profile& profile);
// Numbers in the columns beside the spans that are not missing.
std::uint64_t numbers_of_spans(const Profile& profile);

}  // namespace npuscope
