// Profiles into files of another format:
//
//   auto done = convert(profiles, {Target::chrome, "trace.json"});
//   for (const ConvertedFile& file : done->files) …     // path and size
//   for (const Loss& loss : done->losses.entries) …     // what the target could not hold
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
#include "npuscope/profile/losses.hpp"
#include "npuscope/profile/profile.hpp"
#include "report/selection.hpp"

namespace npuscope::report {

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

struct ConvertedFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

struct Converted {
  std::vector<ConvertedFile> files;
  Losses losses;  // summed over the profiles
};

Result<Converted> convert(std::span<const Profile> profiles, const ConvertRequest& request);

std::string converted_text(const Converted& converted);
// `selection`: what part of the profiles was asked for.
std::string converted_json(const Converted& converted, std::span<const Note> notes,
                           const Selection& selection);

}  // namespace npuscope::report
