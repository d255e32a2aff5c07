// Numbers about the whole run, and sampled series, each with its spread:
//
//   for (const NumberRow& row : analyse_numbers(profile)) …    "RPC (execute) time": 3770, 2348, …
//   for (const CounterRow& row : analyse_counters(profile)) …  "VTCM alloc": 0 … 671,744
#pragma once

#include <vector>

#include "npuscope/analysis/coarse.hpp"

namespace npuscope::analysis {

struct NumberRow {
  Measure::Subject subject = Measure::Subject::profile;
  StringId what{};
  MeasureKind kind = MeasureKind::count;
  Origin origin = Origin::measured;
  Meaning meaning{};
  ClockId clock{};  // meaningful unless kind is count
  Spread values;    // of the profile: over the inferences, in their order; else over the subjects
};

// Of measures whose subject is the profile, a unit or a phase, in the order in which the profile
// has them, then of those columns of the spans that do not add up over spans (and so make no column
// of the op table).
std::vector<NumberRow> analyse_numbers(const Profile& profile);
// Of these those that have a role, which is what programs ask for.
std::vector<NumberRow> analyse_numbers_of_role(const Profile& profile);

struct CounterRow {
  std::uint32_t series = 0;
  std::uint64_t samples = 0;
  double min = 0;
  double max = 0;
  double last = 0;
  double mean = 0;  // over time, a sample holding until the next, the last until the end of the
                    // timeline; of the samples when all are at once
};

std::vector<CounterRow> analyse_counters(const Profile& profile);

}  // namespace npuscope::analysis
