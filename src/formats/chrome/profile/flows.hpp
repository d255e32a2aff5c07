// Arrows between slices: s, t and f events of one category and id, in the order of time. s and t
// belong to the innermost slice of their thread at their time, f to the next one that starts, or to
// the one at its time where it says so (bp: e).
#pragma once

#include <cstdint>
#include <vector>

#include "formats/chrome/events.hpp"
#include "ingest/flows.hpp"

namespace npuscope::chrome {

// `order` is nesting_order().
JoinedFlows connect_flows(const Slices& slices, const Marks& marks, std::size_t threads,
                          const std::vector<std::uint32_t>& order);

// Arrows of version 2: slices that name one `bind_id` and say that the flow goes out of them
// (flow_out), into them (flow_in), or both. In the order of time each that it goes into is reached
// from the last that it went out of.
JoinedFlows connect_bound_flows(const Slices& slices, const StringPool& strings);

}  // namespace npuscope::chrome
