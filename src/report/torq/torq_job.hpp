// The steps of `npuscope torq`: files in, annotated tables, overviews and comparisons out.
//
//   const auto files = sort_torq_files({"runtime.csv", "debug_info"});
//   const auto overviews = torq_overviews(*files, …);
//   print_overview(overviews->overviews, torq::OverviewStyle::documented);
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/torq/annotate/compare.hpp"
#include "formats/torq/overview.hpp"
#include "formats/torq/trace.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// By their contents.
struct TorqFiles {
  std::vector<std::filesystem::path> logs, timelines, tables, traces;
  std::optional<torq::DebugInfo> debug;
  std::vector<Note> notes;  // files that are none of these
};

// Folders stand for the files in them. An input error where nothing is of Torq.
Result<TorqFiles> sort_torq_files(const std::vector<std::string>& paths);

// The input error that files lack what is asked for, and why the first that was left out was.
Error nothing_among(const TorqFiles& files, std::string_view asked_for, std::string_view advice);

struct TorqAnnotateRequest {
  std::string debug;  // a folder or file
  std::string runtime;
  std::string output;                    // .csv, .xlsx or .pb decides the form
  std::optional<torq::OlderForm> older;  // of a .csv
  std::vector<std::string> sources;      // more folders to look for the model's source in
  double mhz = torq::compile_clock_mhz;
  bool keep_going = false;  // also where dispatches have no debug information
};

struct TorqAnnotateOutcome {
  std::uint64_t rows = 0;
  std::string coverage;  // what of the run the rows are of; empty: all
  std::vector<Note> notes;
};
// An input error where dispatches have no debug information, unless `keep_going`.
Result<TorqAnnotateOutcome> run_torq_annotate(const TorqAnnotateRequest& request,
                                              const ProgressReport& progress = {});

struct TorqOverviews {
  std::vector<torq::Overview> overviews;
  std::vector<Note> notes;
};
// One for each runtime log, annotated table and trace, reckoned as the style has it. `wall_time` is
// a file with seconds.
Result<TorqOverviews> torq_overviews(const TorqFiles& files,
                                     const std::optional<std::string>& wall_time,
                                     torq::OverviewStyle style = torq::OverviewStyle::documented);
Document overview_document(const TorqOverviews& overviews, torq::OverviewStyle style);
// "Dma   any of DMA In, DMA Out and CDMA in use", a line each.
std::string overview_meanings(const TorqOverviews& overviews, torq::OverviewStyle style);

struct TorqTimeline {
  Document document;
  std::vector<Profile> profiles;       // what a trace shows side by side, and then
  std::vector<torq::Annotation> runs;  // of TorqFiles::debug, which must live as long
  std::vector<Note> notes;
};
// Estimates against what was measured, at a clock of `mhz`.
Result<TorqTimeline> torq_timeline(const TorqFiles& files, double mhz, std::size_t top);
Status write_timeline_trace(const TorqTimeline& timeline, double mhz,
                            const std::filesystem::path& path);

}  // namespace npuscope::report
