// What the Cloud AI 100 tools print, as profiles. They have no timeline of operators: what they
// have is numbers about units, operators and the whole run, each with its kind and origin.
//
//   const TextKind kind = recognise_text(head);            // of the first bytes
//   auto profiles = read_text(kind, text, "summary.txt");
//   for (const Measure& measure : profiles->front().measures) …
//
//   summary              an op per row of the table, with its ticks, cycles and count (measured);
//                        spans of the threads' inferences; waits, ports, counters per thread
//   compiler_log         memory traffic and sizes per core and in all (estimated)
//   runner_log           a profile per " ---- Stats ----": device times over all inferences
//   latency_table        a span per sampled inference, its steps as phases
//   latency_statistics   mean and percentiles of the same figures, a profile per table
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/qaic/opstats/opstats_summary.hpp"
#include "formats/qaic/text/latency.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::qaic {

// The compiler's log and the runner's log of one program as one profile: what the compiler says
// that an inference moves, next to what the device took for it.
//
//   Profile run = …;                  // of a runner's log: execution of device 0, 124.8 ms
//   join_compiler_log(run, compiled)  // true: run has "ddr read bytes" of the device too
//
// Neither log names the other. Who opens exactly one of each says that they belong together; that
// they name different networks contradicts it.

bool join_compiler_log(Profile& run, const Profile& compiled);

enum class TextKind : std::uint8_t {
  none,
  summary,
  compiler_log,
  runner_log,
  latency_table,
  latency_statistics,
};

TextKind recognise_text(std::string_view head);
std::string_view name_of(TextKind kind);  // "Cloud AI 100 compiler log"

// Lines that say nothing known are counted in the notes. Input errors when nothing could be read.
Result<std::vector<Profile>> read_text(TextKind kind, std::string_view text,
                                       const std::string& name);

Profile make_summary_profile(const OpstatsSummary& summary);

// Reads what print_latency and the vendor's runner write; the columns may stand in any order. Lines
// that are no row are added to `notes`.
Result<LatencyReport> parse_latency(std::string_view text, const std::string& name,
                                    std::vector<Note>& notes);
Profile make_latency_profile(const LatencyReport& report);

}  // namespace npuscope::qaic
