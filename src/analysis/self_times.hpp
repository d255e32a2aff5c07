// Self times (Analysis::self_times) of the spans of one unit, for those who walk through them in
// that order: from the spans themselves, where looking each up by its row would be a jump through
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "npuscope/profile/spans_by_unit.hpp"

namespace npuscope::analysis {

// In the order of `spans`, which is that of SpansByUnit; what `own` held is gone.
void find_self_times(std::span<const SpanOfUnit> spans, std::vector<std::int64_t>& own);

}  // namespace npuscope::analysis
