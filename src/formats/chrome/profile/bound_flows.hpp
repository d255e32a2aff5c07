// Arrows of version 2: slices that name one `bind_id` and say that the flow goes out of them
// (flow_out), into them (flow_in), or both. In the order of time each that it goes into is reached
// from the last that it went out of.
#pragma once

#include <cstdint>

#include "formats/chrome/events.hpp"

namespace npuscope::chrome {

struct BoundFlows {
  std::vector<Flow> flows;     // SpanId is the slice's row
  std::uint64_t unpaired = 0;  // slices that a flow goes into which went out of none before, or out
                               // of and never into another
};

BoundFlows connect_bound_flows(const Slices& slices, const StringPool& strings);

}  // namespace npuscope::chrome
