// What no vendor writes and anybody can: times at the ends of their range, ids that are not there,
// columns of the wrong length. Every page must come out of it whole.
#pragma once

#include <limits>
#include <utility>

#include "analysis/profile_builder.hpp"
#include "number_meaning.hpp"

namespace npuscope::test_support {

inline Profile forged_profile() {
  ProfileBuilder made;
  Profile& profile = made.profile;
  const UnitId unit = made.unit("loop", Engine::hvx);
  profile.units[0].parent = unit;
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  made.span(unit, "a", 0, 10);
  profile.spans.start[0] = min;
  profile.spans.duration[0] = max;
  made.span(unit, "b", 0, 10);
  profile.spans.start[1] = max;
  profile.spans.duration[1] = min;
  made.span(UnitId{77}, "c", 0, 10);
  profile.spans.op[2] = OpId{99};
  made.span(unit, "d", 0, 10);
  profile.spans.start[3] = max - 5;
  profile.spans.duration[3] = max;
  profile.base_clock = ClockId{12};
  profile.spans.measures.push_back({made.text("short"),
                                    MeasureKind::work,
                                    Origin::measured,
                                    meaning_of(MeasureKind::work, "short"),
                                    profile.base_clock,
                                    {1}});
  profile.phases.push_back({made.text("p"), 0, UnitId{5}, max, max, -1});
  profile.measures.push_back({Measure::Subject::op, 1'000, made.text("x"), MeasureKind::work,
                              Origin::measured, meaning_of(MeasureKind::work, "x"), ClockId{9},
                              1e308});
  profile.counters.series.push_back({UnitId{44}, {}, {}, {}});
  profile.counters.of.push_back(3);
  profile.counters.time.push_back(0);
  profile.counters.value.push_back(0);
  return std::move(made.profile);
}

}  // namespace npuscope::test_support
