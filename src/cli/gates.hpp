// Gates as diff and check take them: from the command line and from a file; and what becomes of the
// exit status.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "npuscope/analysis/compare.hpp"
#include "report/compare/diff_document.hpp"
#include "report/compare/gate_file.hpp"

namespace npuscope::cli {

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
