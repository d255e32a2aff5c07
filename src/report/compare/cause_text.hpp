// Why two runs differ, in a sentence, as far as that can be told without looking at ops.
#pragma once

#include <string>

#include "npuscope/analysis/compare.hpp"

namespace npuscope::report {

// "less overlap of DMA and compute: exposed DMA 2,721 -> 8,421 cycles, +5,700 of the wall's +5,694;
// LRAM bytes in use 41.52 KiB -> 37.02 KiB", where the sides state their schedules. Else, where
// wall and work went different ways, what that means: "B is faster and does more work (the wall
// changes by -20.0 %, the work by +8.3 %): more of it runs at the same time, on other units or
// cores". Empty: neither.
std::string cause_text(const analysis::Comparison& comparison);

}  // namespace npuscope::report
