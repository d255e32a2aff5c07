// Rules of ops as people name them: those that come with the program, or a file.
//
//   named_rules("transformer")   named_rules("mine.toml")
#pragma once

#include <string>

#include "npuscope/analysis/rules.hpp"

namespace npuscope::jobs {

// The errors of the file and of Rules::parse; a usage error that lists the names where there is
// none of that name.
Result<analysis::Rules> named_rules(const std::string& name);

}  // namespace npuscope::jobs
