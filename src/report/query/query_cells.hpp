// Cells of a query on their way out.
#pragma once

#include <string>
#include <vector>

#include "npuscope/query/database.hpp"

namespace npuscope::report {

// The names with a number behind those that were there before: work, work_2.
std::vector<std::string> distinct_names(const std::vector<std::string>& names);

std::string hexadecimal(ByteSpan bytes);

// For people: whole numbers as they are, others with six digits, two of
// them behind the point at least.
std::string cell_text(const query::Cell& cell);

}  // namespace npuscope::report
