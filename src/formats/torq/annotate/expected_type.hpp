// What a log calls the actions that debug information has.
#pragma once

#include <string_view>

#include "formats/torq/debug/debug_info.hpp"

namespace npuscope::torq {

// "NSS_START" of an action that starts a program of the NSS; empty for actions that have no name
// there.
std::string_view expected_type(const Action& action, const DispatchInfo& dispatch);

}  // namespace npuscope::torq
