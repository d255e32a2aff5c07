// `npuscope torq timeline`: the compiler's estimates against what was measured.
//
//   const auto timeline = torq_timeline(*sort_torq_files({"run.csv", "debug_info"}));
//   report::torq_timeline_document(timeline->answer, {.mhz = 800, .top = 20});
//   write_timeline_trace(*timeline, 800, "both.pftrace");
#pragma once

#include <filesystem>
#include <vector>

#include "jobs/torq/torq_files.hpp"
#include "report/torq/torq_documents.hpp"

namespace npuscope::jobs {

struct TorqTimeline {
  report::TorqTimelineAnswer answer;
  std::vector<Profile> profiles;       // what a trace shows side by side, and then
  std::vector<torq::Annotation> runs;  // of TorqFiles::debug, which must live as long
  std::vector<Note> notes;
};
// Cycles have the rate `mhz`, which the user names.
Result<TorqTimeline> torq_timeline(const TorqFiles& files, double mhz);
Status write_timeline_trace(const TorqTimeline& timeline, double mhz,
                            const std::filesystem::path& path);

}  // namespace npuscope::jobs
