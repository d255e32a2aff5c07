// The warm call of the network, layer by layer, as a section of any document.
#pragma once

#include "npuscope/analysis/call.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

Section call_section(const analysis::Call& call);

}  // namespace npuscope::report
