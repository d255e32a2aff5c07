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

namespace npuscope::analysis {

struct PhaseClock {
  std::string phase;
  std::vector<std::pair<std::uint32_t, double>> hertz;  // by inference, in their order
};

// Of the phase of the graph itself; the others wait for resources at any clock.
PhaseClock clock_of_phases(const Profile& profile);

// The median of what the units' cycles and times make.
std::optional<double> clock_of_units(const UnitNumbers& numbers);

}  // namespace npuscope::analysis
