// When each op ran in one inference, how long, and since when its unit could have run it.
//
//   const OpTimes times = analysis.op_times();
//   times.begin[op], times.end[op]   // first start, last end of its work
//   times.free_since[op]             // its unit had nothing else to do from then until begin[op]
//
// Of several inferences it is the one whose length is the median of those after the first, so that
// all times belong to each other. Waits are no work: a unit that waits is free.
#pragma once

#include <cstdint>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

struct OpTimes {
  bool known = false;            // whether any op ran
  std::uint32_t inferences = 0;  // how many there are; 0: the trace does not say
  std::uint32_t inference = 0;   // the one that these times are of
  // By op; work is -1 for one that did not run.
  std::vector<std::int64_t> begin, end, free_since;
  std::vector<std::int64_t> work;  // sum over its spans, on all units
  std::vector<UnitId> unit;        // of its first span
  std::vector<std::uint8_t> seen;  // by op: whether the trace has any span of it, a wait included
  std::int64_t total_work = 0;

  bool ran(OpId op) const { return work[index_of(op)] >= 0; }
};

}  // namespace npuscope::analysis
