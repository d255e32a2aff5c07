// A profile of millions of spans, as a run on many cores leaves it: every core has HVX threads, an
// HMX and DMA; inferences of the same ops follow one another; each op feeds the next two.
#pragma once

#include <cstddef>

#include "npuscope/profile/profile.hpp"

namespace npuscope::bench {

// About `spans` spans: 16 cores of 6 units, 10,000 ops, one column of DDR bytes. Deterministic.
Profile large_profile(std::size_t spans);

// The same as one run: every op repeats hundreds of times, which is the most work that its edges
// make, and all of it is on one path.
Profile large_run(std::size_t spans);

}  // namespace npuscope::bench
