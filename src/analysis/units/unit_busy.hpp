// When each unit worked and waited, from one pass over its spans; what units.hpp and overlap.hpp
// start from.
//
//   const std::vector<UnitBusy>& busy = analysis.unit_busy();
//   busy[0].busy               {{0, 40}, {70, 90}}   when unit 0 worked
//   busy[0].dma_waits          {{40, 55}}
//
// Of units that work or wait, in the profile's order; last what has no unit.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "npuscope/analysis/timeline.hpp"

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
  // By what it does.
  struct OfDomain {
    Domain domain = Domain::other;
    IntervalSet busy;  // empty where it is that of the unit
  };
  std::vector<OfDomain> domains;
  IntervalSet syncs, barriers, dma_waits;
  std::uint16_t wait_engines = 0;  // a bit for each class whose ops wait here

  const IntervalSet& busy_of(const OfEngine& of) const {
    return engines.size() == 1 ? busy : of.busy;
  }
  const IntervalSet& busy_of(const OfDomain& of) const {
    return domains.size() == 1 ? busy : of.busy;
  }
};

// When any unit worked or waited, from when each of them did (unit_busy.hpp): what the coarse view,
// the table of hardware and the timeline have in common.
//
//   const BusyTogether& busy = analysis.busy_together();
//   busy.of(Engine::hmx)             when any HMX worked
//   busy.of(Domain::compute)         when anything computed

struct BusyTogether {
  std::array<IntervalSet, engine_count> engines;
  std::array<IntervalSet, domain_count> domains;
  IntervalSet dma_waits, other_waits;

  const IntervalSet& of(Engine engine) const { return engines[std::size_t(engine)]; }
  const IntervalSet& of(Domain domain) const { return domains[std::size_t(domain)]; }
};

// Tracks of one name that a viewer draws as one: slots of an engine in a Perfetto trace, of the
// same parent and without a thread of their own.

// By unit, the first that it is drawn with; empty where each is drawn alone.
std::vector<std::uint32_t> drawn_with(const Profile& profile);

// One entry of those that are drawn as one, in place of the first.
void merge_tracks(const Profile& profile, std::vector<UnitBusy>& units);

}  // namespace npuscope::analysis
