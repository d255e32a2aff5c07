// What a summary without a timeline says of its threads and transfers.
#pragma once

#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {

struct StatedUse {
  double share = 0;  // of the unit's own time
  std::string unit;
};

// The highest utilisation that the file tells of units of this class.
std::optional<StatedUse> stated_use(FindingContext& context, Engine engine);

// Work of transfers to and from DDR, issue to completion, by the wall of all cores; none where the
// profile does not tell their time on its base clock.
std::optional<double> transfers_of_cores_time(FindingContext& context);

}  // namespace npuscope::analysis
