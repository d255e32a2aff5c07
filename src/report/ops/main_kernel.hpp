// What most of a row's work is.
#pragma once

#include "npuscope/analysis/ops.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// "q::ForceFormat_Crouton 74 %"; of one kernel alone its name, unless that is the row's.
Value main_kernel(const Profile& profile, const analysis::OpRow& row);

// "HVX+DMA issue": the one with most work first; nothing where none is known.
Value engines_of(const analysis::OpRow& row);

}  // namespace npuscope::report
