// Sides of files, opened, compared and held against gates: what diff, check, report and snapshot
// share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/profiles.hpp"
#include "npuscope/analysis/compare.hpp"
#include "npuscope/analysis/samples.hpp"
#include "report/compare/compared_runs.hpp"
#include "report/compare/diff_document.hpp"
#include "report/compare/gate_text.hpp"

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

// Gates as diff and check take them: from the command line and from a file; and what becomes of the
// exit status.
struct GateOptions {
  std::vector<std::string> fail_if, require;
  std::string file;
  std::optional<report::Inconclusive> inconclusive;
  bool allow_partial = false;
  bool github = false;

  bool has_gates() const { return !fail_if.empty() || !require.empty() || !file.empty(); }
};

// `example`: what --fail-if may be.
void add_gate_options(Command& command, GateOptions& options, const std::string& example);

// Of the command line, then of the file.
Result<std::vector<report::JudgedGate>> read_gates(const GateOptions& options);

// Says on standard error what did not pass, in a GitHub job as annotations, and adds `summary` to
// the job's. The status is `status` where nothing failed.
ExitStatus judge_status(const GateOptions& options, const report::Diff& diff,
                        const std::string& summary, ExitStatus status);

}  // namespace npuscope::cli
