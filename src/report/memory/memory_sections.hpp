// The sections of the memory document, each in a file with what it says.
#pragma once

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/bandwidth.hpp"
#include "npuscope/analysis/memory.hpp"
#include "npuscope/analysis/spill.hpp"
#include "report/document/document.hpp"
#include "report/memory/memory_document.hpp"

namespace npuscope::report {

// What the pages of memory start from: the hardware's peaks and the table.
struct MemoryAnswer {
  analysis::Peaks peaks;
  analysis::MemoryTable table;
};

// Usage errors: peaks that cannot be read. An input error: MACs of another model.
Result<MemoryAnswer> memory_answer(const analysis::Analysis& analysis,
                                   const MemoryRequest& request);

inline constexpr const char* over_all_inferences = "Over all inferences.";

// Where a vendor's tools put the bytes, for a profile that has none: "compile with -ddr-stats".
std::string how_to_get_bytes(const Profile& profile);

// What to say of bytes by the time of transfers; empty where that is a bandwidth.
std::string transfer_time_remark(const analysis::MemoryTable& table, bool above_peak);

// "structure only, latency: no peak is needed for 65 % of the time … (DDR 51.0 %)"
std::string roofline_verdict(const Profile& profile, const analysis::MemoryTable& table);
// What limits the verdict, a sentence each: peaks and MACs that are not known, rows left out.
// `is_part`: not of all the hardware or all ops.
std::vector<std::string> roofline_remarks(const Profile& profile,
                                          const analysis::MemoryTable& table,
                                          const analysis::Peaks& peaks, bool is_part);
Section roofline_section(const Profile& profile, const analysis::MemoryTable& table,
                         const analysis::Peaks& peaks, bool is_part);
Section traffic_section(const Profile& profile, const analysis::OpTraffic& traffic,
                        const analysis::MemoryTable& table);
Section memory_ops_section(const Profile& profile, const analysis::MemoryTable& table,
                           std::size_t top);
Section over_time_section(const analysis::BandwidthSeries& series,
                          const analysis::MemoryTable& table, std::size_t width);
Section constants_section(const Profile& profile);
Section transfers_section(const std::vector<analysis::TransferSize>& sizes,
                          const analysis::MemoryTable& table);
Section engines_section(const analysis::MemoryTable& table);
Section spill_section(const Profile& profile, const analysis::Spill& spill,
                      const analysis::MemoryTable& table, std::size_t top);
Section schedule_section(const Profile& profile);
Section vtcm_section(const Profile& profile, const analysis::Peaks& peaks);
Section memory_inferences_section(const analysis::MemoryTable& table, std::size_t top);

}  // namespace npuscope::report
