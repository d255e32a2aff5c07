// Cuts many files into sets that can be opened one after another, so that a folder of thousands of
// profiles needs the memory of one.
//
//   file_sets({"nightly"})     nightly/run1 (a QNN set: the folder), nightly/run2, …,
//                              nightly/traces/a.json, nightly/traces/b.json (each by itself)
//
// A folder that holds files which may belong together is one set with all that lies below it; one
// with traces that stand alone is a set for each; one without profiling files is its folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace npuscope {

struct FileSet {
  std::vector<std::filesystem::path> paths;  // for open_profiles()
  std::uint64_t bytes = 0;                   // of files, as they lie on the disk
  bool named = true;                         // not found in a folder
};

// In the order of the paths; what cannot be looked at is a set of its own, which opening refuses.
std::vector<FileSet> file_sets(std::span<const std::filesystem::path> paths);

}  // namespace npuscope
