// Whether the layers of several cores can be of one run: a layer that two cores share runs on both
// at about the same time.
//
//   const CoreAgreement agreement = compare_cores(layers);
//   agreement.shared, .apart        30 runs of layers that two cores have, 28 not at one time
//   agreement.are_of_two_runs()     true
#pragma once

#include <cstdint>
#include <vector>

namespace npuscope::sigmastar {

// One run of a layer on one core.
struct CoreLayer {
  std::uint64_t layer = 0;  // any number that is the layer's on all cores
  std::uint32_t core = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct CoreAgreement {
  std::uint64_t shared = 0;  // n-th runs of a layer on a core that a core before it has too
  std::uint64_t apart = 0;   // of these: the two neither overlap nor touch
  bool are_of_two_runs() const { return apart * 2 > shared; }
};

// On one clock.
CoreAgreement compare_cores(std::vector<CoreLayer> layers);

}  // namespace npuscope::sigmastar
