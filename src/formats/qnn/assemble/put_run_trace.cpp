#include "formats/qnn/assemble/assembly.hpp"

namespace npuscope::qnn {

void put_run_trace(Assembly& assembly, const RunTrace& trace) {
  Profile& profile = assembly.profile;
  for (const RunPhase& from : trace.phases) {
    Phase phase;
    phase.name = assembly.intern(trace.name_of(from));
    phase.instance = from.inference;
    phase.unit = assembly.core_unit(from.core);
    phase.start = from.start_cycle;
    phase.duration = from.end_cycle - from.start_cycle;
    phase.microseconds = from.microseconds();
    profile.phases.push_back(phase);
  }
  if (trace.inferences > 1 && profile.spans.size() > 0) {
    assembly.losses.add(Severity::info, 0,
                        "ops are of the first execute only, which is cold: structure, not speed");
  }
}

}  // namespace npuscope::qnn
