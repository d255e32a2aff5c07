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

}  // namespace npuscope::chrome
