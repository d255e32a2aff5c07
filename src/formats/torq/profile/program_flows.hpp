// Arrows between the host and the programs that it starts: from a start to its program, and from
// the program to what the host does once it has waited for it.
#pragma once

#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::torq {

struct StartedProgram {
  SpanId start = SpanId::none;  // on the host; none: not in the log
  SpanId program = SpanId::none;
  SpanId wait = SpanId::none;
};

void add_program_flows(Profile& profile, UnitId host, const std::vector<StartedProgram>& programs);

}  // namespace npuscope::torq
