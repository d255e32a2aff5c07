// Self times (Analysis::self_times) of the spans of one unit, for those who walk through them in
// that order: from the spans themselves, where looking each up by its row would be a jump through
// memory.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/self_times.hpp"

namespace npuscope::analysis {

// In the order of `spans`, which is that of SpansByUnit; what `own` held is gone.
inline void find_self_times(const Profile& profile, SpansOfUnit spans,
                            std::vector<std::int64_t>& own) {
  const Column<std::int64_t>& of_whole = profile.spans.own;
  if (of_whole.empty()) return find_self_times(spans, nesting_tolerance(profile), own);
  own.resize(spans.size());
  for (std::size_t place = 0; place < spans.size(); ++place) {
    own[place] = of_whole[spans.row(place)];
  }
}

// When the unit of these spans was held up in the midst of its work.
IntervalSet held_up(const Profile& profile, UnitId unit, SpansOfUnit spans);

}  // namespace npuscope::analysis
