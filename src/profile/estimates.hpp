// Times that are a compiler's model: nothing ran, and the same program gives the same ones again.
#pragma once

#include "npuscope/profile/profile.hpp"

namespace npuscope {

bool times_are_estimates(const Provenance& provenance);

// What times of spans are.
inline Origin origin_of_times(const Provenance& provenance) {
  return times_are_estimates(provenance) ? Origin::estimated : Origin::measured;
}

}  // namespace npuscope
