// Numbers of traffic that units tell, without counting what is part of another's number.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "npuscope/analysis/traffic.hpp"

namespace npuscope::analysis {

// Which units have a number of their own for which traffic. A unit's number includes those of its
// parts, and a device's those of everything that uses its memory, the host with its ports too.
class UnitsThatTell {
 public:
  UnitsThatTell(const Profile& profile, bool needed);

  // Whether the traffic of this unit is part of another unit's number.
  bool include(UnitId id, Route route) const;

 private:
  const Profile& profile_;
  std::set<std::pair<std::uint32_t, Route>> units_, devices_;
};

}  // namespace npuscope::analysis
