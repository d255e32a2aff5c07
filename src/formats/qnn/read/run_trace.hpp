// The phases of every execute (*_runtrace.json): each with its interval on two clocks, the 19.2 MHz
// timer and the cycle counter that OP_TRACE and QHAS count in too. `ts` and `dur` of the events are
// ticks, whatever a viewer of Chrome traces makes of them; the arguments are what is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/chrome/events.hpp"
#include "profile/counted_notes.hpp"

namespace npuscope::qnn {

inline constexpr double timer_megahertz = 19.2;
inline constexpr std::string_view execute_phase = "QNN DSP Execute";
inline constexpr std::string_view graph_phase = "Graph Execute";
inline constexpr std::string_view vtcm_phase = "VTCM Acquire";

struct RunPhase {
  StringId name{};
  std::uint32_t inference = 0;
  std::uint32_t core = 0;
  std::int64_t start_ticks = 0;
  std::int64_t end_ticks = 0;
  std::int64_t start_cycle = 0;
  std::int64_t end_cycle = 0;

  double microseconds() const { return double(end_ticks - start_ticks) / timer_megahertz; }
};

struct RunTrace {
  std::string version;
  std::string graph;  // graph_name; empty: not said
  StringPool strings;
  std::vector<RunPhase> phases;  // in file order
  std::uint32_t inferences = 0;

  std::string_view name_of(const RunPhase& phase) const { return strings[phase.name]; }
};

// The phases that name another graph than `graph` does are a run trace of their own: one for each
// graph, in the order in which they first appear.
std::vector<RunTrace> read_run_traces(chrome::Events&& events, CountedNotes& losses);

}  // namespace npuscope::qnn
