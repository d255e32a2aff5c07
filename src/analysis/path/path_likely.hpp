// Likely reasons for waits on a path that nothing recorded explains: the execution on another unit
// that ended just before the step began. A guess, kept apart from what the profile says: nothing
// else is computed from it.
//
//   const LikelyReasons likely = likely_reasons(profile, path, basis.instance);
//   likely.reasons[0]     step 12 began 19 ticks after span 4711 had ended on HVX 513
//   likely.waiting        17788 ticks that all such steps waited for nothing recorded
//   likely.by_chance      0.07: that part of all moments lies as close behind some end
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "npuscope/analysis/path.hpp"

namespace npuscope::analysis {

struct LikelyReason {
  std::size_t step = 0;           // in CriticalPath::steps
  std::uint32_t row = no_row;     // the span that ended
  std::int64_t ended_before = 0;  // ticks between its end and the step's start
};

struct LikelyReasons {
  std::int64_t within = 0;  // ticks: an end no longer before a start than that is its reason
  std::vector<LikelyReason> reasons;
  std::int64_t waiting = 0;
  double by_chance = 0;  // to a thousandth
};

// Of the steps that waited for nothing recorded, longer than `within` and (unless only the order on
// their unit is known) than their constraint takes. `within` is 100 cycles, or 100 ns of a clock
// that counts no cycles (a tick at least): what telling another unit takes at most in the QNN
// traces that are known.
LikelyReasons likely_reasons(const Profile& profile, const CriticalPath& path,
                             std::optional<std::uint32_t> instance);

}  // namespace npuscope::analysis
