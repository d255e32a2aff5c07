// Why two schedules of a program differ, in a sentence.
#pragma once

#include <string>

#include "npuscope/analysis/compare.hpp"

namespace npuscope::report {

// "less overlap of DMA and compute: exposed DMA 2,721 -> 8,421 cycles, +5,700 of the wall's +5,694;
// LRAM bytes in use 41.52 KiB -> 37.02 KiB"; empty where the sides do not state their schedules.
std::string cause_text(const analysis::Comparison& comparison);

}  // namespace npuscope::report
