// Files with tables of roles: what the slices of a generic trace are (event_roles.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/profile/event_roles.hpp"

namespace npuscope::jobs {

// The errors of the files and of RoleTable::parse.
Result<std::vector<RoleTable>> read_roles(std::span<const std::string> files);

}  // namespace npuscope::jobs
