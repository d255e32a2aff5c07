// The vendor's "dominant path" (QHAS: dominant_path_htp_0) as a list in order of time: which
// execution owned each segment. It is no path of dependencies: owned_time.hpp says the rule.
//
//   const auto path = vendor_path(profile);
//   path->segments[17]     q::ConvLayer_s1.opt, from 40057, 4,095 cycles, of 4,095: whole
//   path->owned + path->idle == path->wall, of each core
//
// Set beside the critical path it shows where the two disagree: `critical` is the part of a segment
// during which a step of that path is of its op.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npuscope/analysis/path.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct VendorSegment {
  std::uint32_t row = no_row;  // the span that owns it; none: idle
  std::uint32_t core = 0;
  std::int64_t start = 0;  // ticks of the base clock
  std::int64_t duration = 0;
  std::int64_t critical = 0;  // of it; a slice of the op on another thread counts
};

struct VendorPath {
  std::vector<VendorSegment> segments;  // by core, then time
  std::int64_t wall = 0;                // ticks, sum over cores: first start to last end
  std::int64_t owned = 0;
  std::int64_t idle = 0;
  // Executions whose segments do not add up to the number that the trace has of them.
  std::uint64_t differing = 0;
};

// A usage error when the profile has no dominant path, which only QNN's optraces have.
Result<VendorPath> vendor_path(const Profile& profile, const std::vector<PathStep>& steps);

}  // namespace npuscope::analysis
