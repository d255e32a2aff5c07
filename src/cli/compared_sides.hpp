// Two sides of files, opened and compared: what diff prints and report shows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/profiles.hpp"
#include "npuscope/analysis/samples.hpp"
#include "report/compare/compared_runs.hpp"

namespace npuscope::cli {

// The runs that diff, check and snapshot take from files: as they stand, each a sample or several.
struct RunSide {
  std::vector<Profile> profiles;
  std::vector<Note> notes;
};

// `files` in place of those of the options.
Result<RunSide> open_side(ProfileOptions options, const std::vector<std::string>& files);

struct SideFiles {
  std::vector<std::string> a, b;  // both, or neither
  std::string graph;              // runs of this graph, where the files are of several
};

// --a, --b and --graph.
void add_side_options(Command& command, SideFiles& files);
// A usage error where only one side has files, or `files` are of neither.
Status check_sides(const SideFiles& sides, const std::vector<std::string>& files);

struct ComparedSides {
  RunSide a, b;
  std::unique_ptr<report::ComparedRuns> compared;
  std::vector<Note> notes;
};

// It stays where it is: what was compared refers to its profiles.
Result<std::unique_ptr<ComparedSides>> compare_sides(const ProfileOptions& options,
                                                     const SideFiles& files);

}  // namespace npuscope::cli
