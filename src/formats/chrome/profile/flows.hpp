// Arrows between slices: s, t and f events of one category and id, in the order of time. s and t
// belong to the innermost slice of their thread at their time, f to the next one that starts, or to
// the one at its time where it says so (bp: e).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/events.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::chrome {

struct Flows {
  std::vector<Flow> flows;     // SpanId is the slice's row
  std::uint64_t unbound = 0;   // flow events where no slice is
  std::uint64_t unpaired = 0;  // those without a beginning or an end
};

// `order` is nesting_order().
Flows connect_flows(const Slices& slices, const Marks& marks, std::size_t threads,
                    const std::vector<std::uint32_t>& order);

// Arrows of version 2: slices that name one `bind_id` and say that the flow goes out of them
// (flow_out), into them (flow_in), or both. In the order of time each that it goes into is reached
// from the last that it went out of.
struct BoundFlows {
  std::vector<Flow> flows;     // SpanId is the slice's row
  std::uint64_t unpaired = 0;  // slices that a flow goes into which went out of none before, or out
                               // of and never into another
};

BoundFlows connect_bound_flows(const Slices& slices, const StringPool& strings);

}  // namespace npuscope::chrome
