// --target of commands that need the peaks of hardware.
#pragma once

#include "cli/command.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::cli {

void add_target_option(CLI::App& command, report::PeakText& peaks);

// Completion offers the built-in ones.
void offer_targets(const CLI::Option& option);

}  // namespace npuscope::cli
