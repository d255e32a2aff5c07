// What the steps of a loop took where a generic trace names them: frames of inferences on a
// process or a thread.
//
//   step_times(profile)    // {"ProfilerStep#", {{3, 99026127}, {4, 54408513}, …}}
#pragma once

#include <string>
#include <vector>

#include "npuscope/profile/run_numbers.hpp"

namespace npuscope::analysis {

struct StepTimes {
  std::string name;             // of the steps, without their numbers
  std::vector<Sample> samples;  // in the order of inferences; of several ranks the slowest
};

StepTimes step_times(const Profile& profile);

}  // namespace npuscope::analysis
