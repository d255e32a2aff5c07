// What a gap between the throughput of the device and that of the system comes from, in a sentence
// or two with advice.
#pragma once

#include <string_view>

#include "analysis/latency.hpp"

namespace npuscope::report {

const char* stable_name(analysis::ThroughputGap cause);
std::string_view throughput_explanation(const analysis::Throughput& throughput);

}  // namespace npuscope::report
