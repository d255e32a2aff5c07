// The median of each op in each run, and of each inference's wall: a sample a run, because the
// inferences of one run are no independent ones.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fleet/questions/choice.hpp"

namespace npuscope::fleet {

struct OpName {
  std::string name, kind;
};

struct RunMedian {
  Id run = 0;
  double value = 0;
};

struct RunMedians {
  bool cold_only = false;
  std::map<Id, std::vector<RunMedian>> ops;  // 0: the wall of the inference
  std::map<Id, OpName> names;
};

// Of warm inferences, or of cold ones where `cold`.
Result<RunMedians> run_medians(Store& store, const ChosenRuns& runs, const CommonClock& clock,
                               const std::string& measure, bool cold);

// Whether any warm inference has the measure.
Result<bool> has_warm_ops(Store& store, const ChosenRuns& runs, const std::string& measure);

}  // namespace npuscope::fleet
