// The names that enumerations have in JSON, CSV and SQLite.
#pragma once

#include "profile/names.hpp"

namespace npuscope::report {

using npuscope::stable_name;

}  // namespace npuscope::report
