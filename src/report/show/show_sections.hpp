// The sections that only `npuscope show` has. Each is empty (no key) where the profile says nothing
// of it.
#pragma once

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"
#include "report/memory/peaks.hpp"
#include "report/show/latency_of.hpp"

namespace npuscope::report {

Section about_section(const analysis::Analysis& analysis);
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

Section first_findings_section(const analysis::Analysis& analysis, bool leaves_out_rows,
                               const PeakText& peaks);

// "compute", "data movement", "DMA wait": a part of the wall in a line with others.
const char* short_name_of(const analysis::Coarse& coarse, analysis::Part part,
                          bool leaves_out_rows);
// "64,829 cycles = 80.40 us"
std::string wall_text(const analysis::Analysis& analysis);

}  // namespace npuscope::report
