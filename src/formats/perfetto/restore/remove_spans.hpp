// Spans that turn out to be something else leave the table.
#pragma once

#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::perfetto {

// With their flows and measures, and with the ops that no other span is of. `gone`: by row.
void remove_spans(Profile& profile, const std::vector<bool>& gone);

}  // namespace npuscope::perfetto
