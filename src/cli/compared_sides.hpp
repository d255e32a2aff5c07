// Two sides of files, opened and compared: what diff prints and report shows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_sides.hpp"
#include "npuscope/analysis/compare.hpp"
#include "report/compare/diff_document.hpp"

namespace npuscope::cli {

struct SideFiles {
  std::vector<std::string> a, b;  // both, or neither
  std::string graph;              // runs of this graph, where the files are of several
};

// --a, --b and --graph.
void add_side_options(CLI::App& command, SideFiles& files);
// A usage error where only one side has files, or `files` are of neither.
Status check_sides(const SideFiles& sides, const std::vector<std::string>& files);

struct ComparedSides {
  RunSide a, b;
  std::vector<analysis::RunSamples> samples[4];  // of A and B, and of what is beside them
  std::optional<analysis::Comparer> comparer;
  report::Diff diff;  // without gates and rows
  std::vector<Note> notes;
};

// It stays where it is: the comparer and the diff refer to its profiles.
Result<std::unique_ptr<ComparedSides>> compare_sides(const ProfileOptions& options,
                                                     const SideFiles& files);

}  // namespace npuscope::cli
