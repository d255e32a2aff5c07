// When any unit worked or waited, from when each of them did (unit_busy.hpp): what the coarse view,
// the table of hardware and the timeline have in common.
//
//   const BusyTogether& busy = analysis.busy_together();
//   busy.of(Engine::hmx)             when any HMX worked
//   busy.of(Domain::compute)         when anything computed
#pragma once

#include <array>

#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis {

struct BusyTogether {
  std::array<IntervalSet, engine_count> engines;
  std::array<IntervalSet, domain_count> domains;
  IntervalSet dma_waits, other_waits;

  const IntervalSet& of(Engine engine) const { return engines[std::size_t(engine)]; }
  const IntervalSet& of(Domain domain) const { return domains[std::size_t(domain)]; }
};

}  // namespace npuscope::analysis
