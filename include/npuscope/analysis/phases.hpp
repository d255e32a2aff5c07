// Wall by phases: how long each named interval of the run took, over all inferences, and what is
// left of it beside the phases inside. The first inference stands apart: it is cold.
//
//   name              count   first      median of the rest   self (first)
//   QNN DSP Execute   10      797.2 us   42.1 us              38.9 us
//     Graph Execute   10      86.1 us    22.0 us              86.1 us
//
// Times are in ticks of the base clock, and in microseconds where the phase has been timed by a
// clock of known rate. Ticks of different phases are not compared in microseconds by one rate: each
// phase has its own.
#pragma once

#include <vector>

#include "npuscope/analysis/coarse.hpp"

namespace npuscope::analysis {

struct PhaseRow {
  StringId name{};
  std::uint32_t depth = 0;  // 0: in no other phase
  bool repeats = false;     // several of one unit in one inference: the first is no first inference
  Spread ticks;
  Spread microseconds;       // count 0: never timed
  Spread self_ticks;         // less the phases inside
  Spread self_microseconds;  // count 0 when it or one inside has not been timed
  Spread hertz;              // of the base clock during the phase
};

// Outer phases before those inside, each in the order of its first start.
std::vector<PhaseRow> analyse_phases(const Profile& profile);

}  // namespace npuscope::analysis
