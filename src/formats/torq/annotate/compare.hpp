// The compiler's estimate of each program beside what was measured.
//
//   for (const ProgramComparison& each : compare_programs(annotation)) …
//   // nss_program_1 at @L3C10: 104 cycles, 39 us
//
// Measured is from the begin of NSS_START to the end of NSS_WAIT, so the host's calls are in it;
// the estimate is from a program's first task to its last. They meet only at a clock that somebody
// names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/torq/annotate/annotate.hpp"

namespace npuscope::torq {

struct ProgramComparison {
  std::string dispatch{};
  std::string program{};
  std::string location{};   // brief
  std::string operators{};  // of the source
  std::string kernels{};
  std::uint64_t runs = 0;
  double measured_us = 0;  // median of all runs but the first; of one run that one
  double first_us = 0;
  std::int64_t estimated_cycles = 0;
};

// As SimulatorCheck says.
std::uint64_t simulator_slowdown(const Annotation& annotation);

// Programs that ran and have an estimate, in the order of their dispatches and actions.
std::vector<ProgramComparison> compare_programs(const Annotation& annotation);

}  // namespace npuscope::torq
