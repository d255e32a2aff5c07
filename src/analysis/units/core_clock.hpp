// How fast the cores' clock was while a program ran: cycles by time, as far as files have both.
//
//   clock_of_phases(profile).hertz     // {{0, 0.806e9}, {1, 1.88e9}}: inference 0 was cold
//   clock_of_units(numbers)            // 1.31e9, the median of the units' inferences
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/units/unit_numbers.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// What the cores' clocks ran at during each inference: a governor may slow them down, and the first
// inference may find them at another frequency than the others.
//
//   for (const InferenceClock& clock : analyse_clocks(profile)) …
//   clock.inference, clock.min_hertz, clock.max_hertz   // 100, 1233.12e6, 1243.97e6
//
// Of a core: its cycles by its time, both of the thread that has most, as the vendor's summary does
// ("c0: Effective frequency is 1233.12MHz").
struct InferenceClock {
  std::uint32_t inference = every_instance;
  std::uint32_t cores = 0;
  double min_hertz = 0;  // over the cores
  double max_hertz = 0;
};

// By inference; none where the profile has no cycles of whole inferences, or where its base clock
// counts those cycles itself.
std::vector<InferenceClock> analyse_clocks(const Profile& profile);

struct PhaseClock {
  std::string phase;
  std::vector<std::pair<std::uint32_t, double>> hertz;  // by inference, in their order
};

// Of the phase of the graph itself; the others wait for resources at any clock.
PhaseClock clock_of_phases(const Profile& profile);

// The median of what the units' cycles and times make.
std::optional<double> clock_of_units(const UnitNumbers& numbers);

}  // namespace npuscope::analysis
