// The units of a generic trace: one for each process, one for each lane of its threads.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/events.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

struct UnitTable {
  // By thread. A thread's further lanes follow its first.
  std::vector<UnitId> process;
  std::vector<UnitId> first_lane;

  UnitId lane(std::uint32_t thread, std::uint32_t lane) const {
    return UnitId(index_of(first_lane[thread]) + lane);
  }
};

UnitTable make_units(const Events& events, const std::vector<std::uint32_t>& lane_count,
                     Profile& profile);

}  // namespace npuscope::chrome
