// Which tags explain how runs of one device differ, so that a reader learns what to compare within.
//
//   influential_tags(store, {{17, 1.08}, {18, 1.0}, ...}, {"device"})
//       // {{.key = "build", .share = 0.83, .slowest = 1.07}}
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/questions/answer.hpp"

namespace npuscope::fleet {

struct InfluentialTag {
  std::string key;
  double share = 0;    // of how the runs differ (explained_share), at least a half
  double slowest = 1;  // the median of its slowest value, to that of its fastest
};

// Of some runs, each with its latency relative to the median of its group; the most influential tag
// first. `used` are not asked for. Values of a tag that has more than a third as many as runs, or
// that differ by less than 1 %, are no influence.
Result<std::vector<InfluentialTag>> influential_tags(
    Store& store, const std::unordered_map<Id, double>& relative_of_runs,
    const std::vector<std::string>& used);

}  // namespace npuscope::fleet
