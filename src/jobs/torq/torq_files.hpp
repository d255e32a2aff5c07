// The files of a Torq run, by their contents.
//
//   const auto files = sort_torq_files({"runtime.csv", "debug_info"});
//   const auto overviews = torq_overviews(*files, …);
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/torq/debug/debug_folder.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::jobs {

struct TorqFiles {
  std::vector<std::filesystem::path> logs, timelines, tables, traces;
  std::optional<torq::DebugInfo> debug;
  std::vector<Note> notes;  // files that are none of these
};

// Folders stand for the files in them. An input error where nothing is of Torq.
Result<TorqFiles> sort_torq_files(const std::vector<std::string>& paths);

// The input error that files lack what is asked for, and why the first that was left out was.
Error nothing_among(const TorqFiles& files, std::string_view asked_for, std::string_view advice);

}  // namespace npuscope::jobs
