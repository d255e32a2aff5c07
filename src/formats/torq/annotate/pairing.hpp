// Whether debug information is of the model whose run a log is of, and how much of the run it
// covers. Compilers of different models give dispatches the same names (main_dispatch_0_conv2d), so
// names alone prove nothing: the actions must fit too.
//
//   const auto pairing = check_pairing(log, debug);       an error names the first contradiction
//   coverage_text(*pairing)     debug information of 3 of 5 dispatches: 41.2 % of the wall (3.100
//                               ms of 7.500 ms)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/runtime_log.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::torq {

struct Pairing {
  std::size_t dispatches = 0;        // that the log names
  std::vector<std::string> missing;  // those of them without debug information
  Interval wall_us{};                // first event to last, without INIT
  IntervalSet seen_us;               // when dispatches ran that have debug information
  std::vector<Note> notes;           // what is odd, and no contradiction

  bool is_partial() const { return !missing.empty(); }
};

// An input error where the log contradicts the debug information: no dispatch has any, an action is
// not there or is of another type, the end of a dispatch was never run, or each of the two has
// dispatches that the other lacks. A log may have lost the start and the wait of one program: where
// only one dispatch lacks its last, that is a note.
Result<Pairing> check_pairing(const RuntimeLog& log, const DebugInfo& debug);

// Empty where every dispatch has debug information.
std::string coverage_text(const Pairing& pairing);

}  // namespace npuscope::torq
