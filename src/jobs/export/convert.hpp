// Profiles into files of another format:
//
//   auto done = convert(profiles, {Target::chrome, "trace.json"});
//   for (const report::ConvertedFile& file : done->files) …   // path and size
//   for (const Loss& loss : done->losses.entries) …           // what the target could not hold
//
// Several profiles go into one Perfetto trace, or into a file each in a folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"
#include "report/export/converted.hpp"

namespace npuscope::jobs {

enum class Target : std::uint8_t { chrome, perfetto, csv, sqlite, json };

// "chrome" and so on; none for other words.
std::optional<Target> target_named(std::string_view name);
// By the ending of a file name: .pftrace, .perfetto-trace, .csv, .db, .sqlite, .sqlite3. None for
// .json, which may be two of them.
std::optional<Target> target_of(const std::filesystem::path& output);

struct ConvertRequest {
  Target target = Target::chrome;
  std::filesystem::path output;
  ProgressReport progress;
};

Result<report::Converted> convert(std::span<const Profile> profiles, const ConvertRequest& request);

}  // namespace npuscope::jobs
