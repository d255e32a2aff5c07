// Paths as a user names them, as files: folders become the files in them, in sorted order, and a
// pipe becomes a file that holds what came out of it. What is named twice, by a link or by its
// folder too, is found once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/standard_streams.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct FoundFile {
  std::filesystem::path path;
  bool named = false;
};

// What a pipe held, in a file without a name that lasts as long as this.
struct SpooledPipe {
  std::string name;  // as the user named it
  std::filesystem::path path;
  FileHandle file{nullptr, &std::fclose};
};

struct FoundFiles {
  std::vector<FoundFile> files;
  std::vector<SpooledPipe> pipes;
  std::vector<Note> notes;  // what cannot be a profile: missing paths, devices, closed folders
};

// Links to folders inside folders are not followed, so that none is walked twice. A pipe of more
// than `pipe_limit` bytes is refused.
FoundFiles find_files(std::span<const std::filesystem::path> paths, std::uint64_t pipe_limit);

// Cuts many files into sets that can be opened one after another, so that a folder of thousands of
// profiles needs the memory of one.
//
//   file_sets({"nightly"})     nightly/run1 (a QNN set: the folder), nightly/run2, …,
//                              nightly/traces/a.json, nightly/traces/b.json (each by itself)
//
// A folder that holds files which may belong together is one set with all that lies below it; one
// with traces that stand alone is a set for each; one without profiling files is its folders.
struct FileSet {
  std::vector<std::filesystem::path> paths;  // for open_profiles()
  std::uint64_t bytes = 0;                   // of files, as they lie on the disk
  bool named = true;                         // not found in a folder
};

// In the order of the paths; what cannot be looked at is a set of its own, which opening refuses.
std::vector<FileSet> file_sets(std::span<const std::filesystem::path> paths);

}  // namespace npuscope
