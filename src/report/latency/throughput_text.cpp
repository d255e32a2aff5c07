#include "report/latency/throughput_text.hpp"

namespace npuscope::report {

const char* stable_name(analysis::ThroughputGap cause) {
  switch (cause) {
    case analysis::ThroughputGap::none: return "none";
    case analysis::ThroughputGap::input_wait: return "input_wait";
    case analysis::ThroughputGap::output_wait: return "output_wait";
    case analysis::ThroughputGap::other: return "other";
  }
  return "";
}

std::string_view throughput_explanation(const analysis::Throughput& throughput) {
  using analysis::ThroughputGap;
  switch (throughput.cause) {
    case ThroughputGap::none: return "The host keeps the device at work.";
    case ThroughputGap::input_wait:
      if (!(throughput.queue_depth > 0)) {
        return "The device waits for inputs: keep more queued (-S); else the host or its link "
               "delivers them too slowly, and --aic-profiling-type=latency says at which step.";
      }
      return throughput.queue_depth < 1.5
                 ? "The device waits for inputs, because only one inference is under way: the next "
                   "is sent when it is done. Keep more queued (-S)."
                 : "The device waits for inputs although others are queued: too few to cover what "
                   "the host does with each, or the host or its link delivers them too slowly. "
                   "Keep more queued (-S); else look at submit and at what is sent per inference.";
    case ThroughputGap::output_wait:
      return "The device waits for outputs to leave: the link to the host is slower than it. Send "
             "less, or keep state on the device (-retained-state).";
    case ThroughputGap::other:
      return "The device is idle between inferences for reasons that its own waits do not show: "
             "look at enqueue and submit of the host.";
  }
  return {};
}

}  // namespace npuscope::report
