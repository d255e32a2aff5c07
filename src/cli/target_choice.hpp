// --target of commands that need the peaks of hardware.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::cli {

void add_target_option(Command& command, report::PeakText& peaks);

// Those that are built in.
std::vector<std::string> target_names();

}  // namespace npuscope::cli
