// Steps of a loop that a generic trace names (ProfilerStep#7, a StepTraceAnnotation with step_num
// 7, a record_function that comes again and again) as inferences: their slices become spans of kind
// `inference`, and each span of the trace tells the step that it is of.
//
//   number_steps(profile, candidates);
//   profile.spans.instance[row]      // 7; every_instance outside all steps
//
// A span is of the step in which it begins, on whatever unit, a frame of that in which it also
// ends; work of a device is of the step that launched it, where an arrow says which. Spans of a
// process without steps are of those of the only process that has some.
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/profile/event_roles.hpp"

namespace npuscope {

// A slice of a rule of role `inference`. As long as it is no step, it is an annotation.
struct StepCandidate {
  std::uint32_t row = 0;
  const RoleRule* rule = nullptr;
};

// Nothing where the profile already says which inferences its spans are of.
void number_steps(Profile& profile, std::vector<StepCandidate> candidates);

}  // namespace npuscope
