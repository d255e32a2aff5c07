// The name of a column of an op table, unlike that of any other of its columns.
#pragma once

#include <string>

#include "npuscope/analysis/ops.hpp"

namespace npuscope::report {

// Cycles of two cores are two numbers of one name: "pcycles, core 0 cycles" says whose they are.
std::string op_column_name(const Profile& profile, const analysis::OpTable& table,
                           const analysis::OpColumn& column);

}  // namespace npuscope::report
