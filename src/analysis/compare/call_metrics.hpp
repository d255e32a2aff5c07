// What people judge a run by, found among the numbers that each format has of it: latency,
// device_latency, throughput and percentiles of latency (samples.hpp).
//
//   QNN HTP          latency: the host's call; device_latency: Graph Execute
//   Cloud AI 100     latency: total round trip; device_latency: device execution, else the wall of
//                    a raw buffer; throughput: the runner's
//   Synaptics Torq   latency: the queue's call; device_latency: first start to last end on the NPU
//   steps of a trace latency: the step, as its annotation has it
//   a timeline       device_latency: first start to last end of what is not on the host
#pragma once

#include <vector>

#include "analysis/inference_times.hpp"
#include "npuscope/analysis/samples.hpp"

namespace npuscope::analysis {

// `known`: the other numbers of the same profile, `base` the rate of its timeline.
std::vector<Metric> call_metrics(const Profile& profile, const Inferences& inferences,
                                 const std::vector<Metric>& known, const TimeBase& base);

// Names of the numbers of a run that stand between the host's call and the device, outermost first.
std::vector<std::string_view> call_layers(const std::vector<Metric>& metrics);

}  // namespace npuscope::analysis
