// Tables of rules and of roles as people name them: those that come with the program, or a file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "npuscope/analysis/rules.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/event_roles.hpp"

namespace npuscope::jobs {

// Rules of ops as people name them: those that come with the program, or a file.
//
//   named_rules("transformer")   named_rules("mine.toml")

// The errors of the file and of Rules::parse; a usage error that lists the names where there is
// none of that name.
Result<analysis::Rules> named_rules(const std::string& name);

// Files with tables of roles: what the slices of a generic trace are (event_roles.hpp).

// The errors of the files and of RoleTable::parse.
Result<std::vector<RoleTable>> read_roles(std::span<const std::string> files);

}  // namespace npuscope::jobs
