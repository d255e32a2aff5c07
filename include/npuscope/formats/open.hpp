// Opens files of any format that npuscope knows, alone, together or as folders:
//
//   auto opened = open_profiles({"optrace/"});      // a QNN set: four files, one profile
//   for (const Profile& profile : opened->profiles) …
//
// What a file is, its content decides, never its name alone. Files that belong together (a QNN
// optrace set) become one profile; files that do not, one each. gzip and zstd files open like plain
// ones.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "npuscope/base/byte_source.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/event_roles.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

// What times of a generic Chrome trace count: microseconds by the format, whatever a writer meant.
enum class TraceTimeUnit : std::uint8_t { microseconds, nanoseconds, milliseconds };

struct OpenOptions {
  ByteSourceOptions source;
  ProgressReport progress;
  std::vector<RoleTable> roles;  // of slices of generic traces, before the built-in ones
  // Files and folders with descriptions of tables (docs/formats/tables.md), tried before all else.
  std::vector<std::string> tables;
  TraceTimeUnit time_unit = TraceTimeUnit::microseconds;
};

struct Opened {
  std::vector<Profile> profiles;
  // Files that are no profile and why: in a folder, files of no known kind; closed vendor binaries
  // with the command that decodes them.
  std::vector<Note> notes;
};

// An input error when nothing could be opened; then it says what was found and what to do. A file
// that was named (not found in a folder) and could not be opened is a note with severity error.
Result<Opened> open_profiles(std::span<const std::filesystem::path> paths,
                             const OpenOptions& options = {});

}  // namespace npuscope
