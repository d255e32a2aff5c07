// `npuscope torq overview` and `npuscope torq timeline`: where the time of runs went, and the
// compiler's estimates against what was measured.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/torq/debug/debug_folder.hpp"
#include "formats/torq/overview.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"
#include "report/torq/pass_times_document.hpp"
#include "report/torq/torq_documents.hpp"

namespace npuscope::jobs {

// The files of a Torq run, by their contents.
//
//   const auto files = sort_torq_files({"runtime.csv", "debug_info"});
//   const auto overviews = torq_overviews(*files, …);
struct TorqFiles {
  std::vector<std::filesystem::path> logs, timelines, tables, traces;
  std::optional<torq::DebugInfo> debug;
  std::vector<Note> notes;  // files that are none of these
};

// Folders stand for the files in them. An input error where nothing is of Torq.
Result<TorqFiles> sort_torq_files(const std::vector<std::string>& paths);

// The input error that files lack what is asked for, and why the first that was left out was.
Error nothing_among(const TorqFiles& files, std::string_view asked_for, std::string_view advice);

// `npuscope torq overview`: where the time of runs went, from whichever files say so.
//
//   const auto overviews = torq_overviews(*sort_torq_files({"run.pb"}), std::nullopt);
//   print_overview(overviews->overviews, torq::OverviewStyle::documented);
struct TorqOverviews {
  std::vector<torq::Overview> overviews;
  std::vector<Note> notes;
};
// One for each runtime log, annotated table and trace, reckoned as the style has it. `wall_time` is
// a file with seconds.
Result<TorqOverviews> torq_overviews(const TorqFiles& files,
                                     const std::optional<std::string>& wall_time,
                                     torq::OverviewStyle style = torq::OverviewStyle::documented);

// `npuscope torq timeline`: the compiler's estimates against what was measured.
//
//   const auto timeline = torq_timeline(*sort_torq_files({"run.csv", "debug_info"}));
//   report::torq_timeline_document(timeline->answer, {.mhz = 800, .top = 20});
//   write_timeline_trace(*timeline, 800, "both.pftrace");
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

// `npuscope torq passes`: where the compiler's own time went.
struct TorqPasses {
  std::vector<report::PassTimesOfFile> files;
  std::vector<Note> notes;  // files that have no such report
};
// An input error where no file has one.
Result<TorqPasses> torq_passes(const std::vector<std::string>& paths);

}  // namespace npuscope::jobs
