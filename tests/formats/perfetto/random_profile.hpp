// Profiles of all that a trace can hold, at random: nesting slices on processes, threads and
// tracks, instants, arguments of every type, counters, flows.
#pragma once

#include <cstdint>

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto::test {

struct RandomProfileOptions {
  std::uint32_t seed = 1;
  std::uint32_t spans = 200;
  std::uint32_t processes = 2;
  bool overlap = false;      // slices that do not nest
  bool accelerator = false;  // ops, waits and transfers with inferences, cycles and shapes
};

Profile random_profile(const RandomProfileOptions& options);

}  // namespace npuscope::perfetto::test
