// --rules of commands whose rows may be of rules: a file, or rules that are built in.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "npuscope/analysis/ops.hpp"

namespace npuscope::cli {

Flag& add_rules_option(Command& command, std::string& name);

// The rules of that name, none without one. They group rows by rule, which --by must not
// contradict.
Result<std::optional<analysis::Rules>> chosen_rules(const std::string& name, bool by_given,
                                                    analysis::Grouping& grouping);

}  // namespace npuscope::cli
