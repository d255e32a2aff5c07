// The name of a column of an op table, unlike that of any other of its columns.
#pragma once

#include <string>

#include "npuscope/analysis/ops.hpp"

namespace npuscope::report {

// Cycles of two cores are two numbers of one name: "pcycles, core 0 cycles" says whose they are.
std::string op_column_name(const Profile& profile, const analysis::OpTable& table,
                           const analysis::OpColumn& column);

// Of ops by inference beside a timeline, which is of one inference: what other inferences took.
bool is_beside_timeline(const Profile& profile, const analysis::OpColumn& column);

// "inference 0, cold", "inferences 1 to 4, warm"; brief: "warm". Of a column that knows.
std::string inferences_text(const Profile& profile, const analysis::OpColumn& column, bool brief);

// "median of inferences 1 to 3, warm, summed over threads; times of spans are of one inference".
std::string beside_timeline_text(const Profile& profile, const analysis::OpColumn& column);

}  // namespace npuscope::report
