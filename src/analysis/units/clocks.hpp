// What the cores' clocks ran at during each inference: a governor may slow them down, and the first
// inference may find them at another frequency than the others.
//
//   for (const InferenceClock& clock : analyse_clocks(profile)) …
//   clock.inference, clock.min_hertz, clock.max_hertz   // 100, 1233.12e6, 1243.97e6
//
// Of a core: its cycles by its time, both of the thread that has most, as the vendor's summary does
// ("c0: Effective frequency is 1233.12MHz").
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct InferenceClock {
  std::uint32_t inference = every_instance;
  std::uint32_t cores = 0;
  double min_hertz = 0;  // over the cores
  double max_hertz = 0;
};

// By inference; none where the profile has no cycles of whole inferences, or where its base clock
// counts those cycles itself.
std::vector<InferenceClock> analyse_clocks(const Profile& profile);

}  // namespace npuscope::analysis
