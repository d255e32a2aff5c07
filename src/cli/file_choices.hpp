// --rules and --target: a file, or what is built in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "npuscope/analysis/ops.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::cli {

// --rules of commands whose rows may be of rules: a file, or rules that are built in.

Flag& add_rules_option(Command& command, std::string& name);

// The rules of that name, none without one. They group rows by rule, which --by must not
// contradict.
Result<std::optional<analysis::Rules>> chosen_rules(const std::string& name, bool by_given,
                                                    analysis::Grouping& grouping);

// --target of commands that need the peaks of hardware.

void add_target_option(Command& command, report::PeakText& peaks);

// Those that are built in.
std::vector<std::string> target_names();

}  // namespace npuscope::cli
