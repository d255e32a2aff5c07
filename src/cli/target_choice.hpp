// --target, and the target that is remembered where the flag is not given: NPUSCOPE_TARGET, else
// `target = "htp-v75"` in $XDG_CONFIG_HOME/npuscope/config.toml (~/.config/npuscope/config.toml).
#pragma once

#include <string>

#include "cli/command.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::cli {

// Empty where nothing is remembered. An input error for a file that cannot be understood.
Result<std::string> remembered_target();

// --target of commands that need the peaks of hardware.
void add_target_option(CLI::App& command, report::PeakText& peaks);

// Completion offers the built-in ones.
void offer_targets(const CLI::Option& option);

// Takes the remembered target where no flag names one; a usage error for one that is unknown.
Status choose_target(report::PeakText& peaks);

}  // namespace npuscope::cli
