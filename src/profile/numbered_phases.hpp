// Phases as a trace of ours tells them: in any order, each with the number that it had in the
// table.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

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

}  // namespace npuscope
