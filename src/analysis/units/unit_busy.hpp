// When each unit worked and waited, from one pass over its spans.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "npuscope/analysis/overlap.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis {

struct UnitBusy {
  UnitId unit = UnitId::none;
  std::uint64_t spans = 0;  // of work
  std::int64_t work = 0;
  IntervalSet busy;
  // By what the ops use, which need not be what the unit is named after.
  struct OfEngine {
    Engine engine = Engine::none;
    std::int64_t work = 0;
    IntervalSet busy;  // empty where it is that of the unit: all its work is of one engine
  };
  std::vector<OfEngine> engines;
  IntervalSet syncs, barriers, dma_waits;

  const IntervalSet& busy_of(const OfEngine& of) const {
    return engines.size() == 1 ? busy : of.busy;
  }
};

// Of units that work or wait, in the profile's order; last what has no unit.
std::vector<UnitBusy> busy_of_units(const Profile& profile, const SpansByUnit& by_unit,
                                    const std::vector<std::int64_t>& own);

// The analyses of npuscope/analysis/units.hpp and overlap.hpp for who has that already.
UnitTable analyse_units(const Profile& profile, const std::vector<UnitBusy>& units);
Overlap analyse_overlap(const std::vector<UnitBusy>& units);

}  // namespace npuscope::analysis
