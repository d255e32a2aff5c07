// The sections that only `npuscope show` has. Each is empty (no key) where the profile says nothing
// of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report {

// Which of a profile's numbers is its latency: a call as its host sees it, warm and cold, with the
// part that the NPU has of it; else an inference's wall.
//
//   const LatencyOfCall latency = latency_of(analysis);
//   latency.rows[0]       {"QNN (execute) time", warm 2.439 ms, cold 3.907 ms}
//   latency.outside       0.985: of the warm call, outside the NPU

struct LatencyRow {
  std::string what;  // "call", "on the NPU", "graph", "inference"
  std::string name;  // as the files have it; empty: they have none
  std::optional<double> warm_seconds, cold_seconds;
  // Neither: the files do not say which of the two the only one is.
  std::optional<double> seconds;
  std::string around = {};  // what it is of, where that is more than the call
};

struct LatencyOfCall {
  std::vector<LatencyRow> rows;   // outermost first; empty: not known
  std::uint64_t warm_count = 0;   // that the warm medians are of
  std::optional<double> outside;  // part of the call that the NPU does not have
  Origin origin = Origin::measured;
  std::optional<double> stated_rate;  // inferences a second, as the file has it
  std::string recorder;               // what recorded the steps themselves, and slowed them

  const LatencyRow* first() const { return rows.empty() ? nullptr : &rows.front(); }
};

LatencyOfCall latency_of(const analysis::Analysis& analysis);

Section about_section(const analysis::Analysis& analysis);
// Of what a compiler says of a graph that did not run: its length with bounds, DDR, VTCM, nodes
// that are left to the CPU.
Section estimate_section(const analysis::Analysis& analysis);
Section latency_section(const LatencyOfCall& latency);
Section tokens_section(const analysis::Analysis& analysis);
Section wall_section(const analysis::Analysis& analysis, bool leaves_out_rows);
// With the DDR rate of an execution where the bytes of one are known, against the peak.
Section throughput_section(const Profile& profile, const PeakText& peaks);
// What sorts of work its time goes to; empty where no rules fit the graph.
Section model_parts_section(const analysis::Analysis& analysis);
Section phases_section(const analysis::Analysis& analysis, std::size_t top);
Section traffic_section(const analysis::Analysis& analysis);
Section run_numbers_section(const analysis::Analysis& analysis, std::size_t top);
Section part_numbers_section(const analysis::Analysis& analysis, std::size_t top);
Section unit_numbers_section(const analysis::Analysis& analysis, std::size_t top);
Section counters_section(const Profile& profile, std::size_t top);
Section checks_section(const Profile& profile);
Section notes_section(const Profile& profile, std::size_t top);

// "FINDINGS (3 of 5)  npuscope diagnose shows the evidence"
std::string findings_title(std::size_t shown, std::size_t all);
Section first_findings_section(const analysis::Analysis& analysis, bool leaves_out_rows,
                               const PeakText& peaks);

// "compute", "data movement", "DMA wait": a part of the wall in a line with others.
const char* short_name_of(const analysis::Coarse& coarse, analysis::Part part,
                          bool leaves_out_rows);
// "64,829 cycles = 80.40 us"
std::string wall_text(const analysis::Analysis& analysis);

}  // namespace npuscope::report
