// Words for a comparison that its document and its Markdown share.
#pragma once

#include <string>
#include <vector>

#include "report/compare/diff_document.hpp"

namespace npuscope::report {

std::string amount_text(analysis::MeasuredIn unit, double value);  // "64,829 cycles", "1.03 ms"
Format format_in(analysis::MeasuredIn unit);
std::string change_text(double relative);  // "+3.0 %"

// "+2.1 … +3.9 %"; empty where there is none.
std::string interval_text(const std::optional<analysis::Range>& relative);

// "64,829 -> 66,774 cycles, +3.0 % (95 % interval +2.1 … +3.9 %, p = 0.008)"; of B alone
// "66,774 cycles (median of 5 samples, 95 % interval 66,102 … 67,010 cycles)".
std::string estimate_text(analysis::MeasuredIn unit, const analysis::Estimate& estimate);

// "1 of 2 gates failed; wall …".
std::string verdict_text(const Diff& diff);

// What must be known to read the numbers right, a sentence each.
std::vector<std::string> cautions(const Diff& diff);

// "before/ (4 runs, 3 samples, 1 cold inference apart)".
std::string side_text(const Diff& diff, int side);

// Of files of several inferences, which one a side's numbers are of (provenance.hpp).
std::string scope_of_sides(const Diff& diff);

// What an added or removed op, or one of another name, is like on the other side.
std::string explanation(const analysis::OpDifference& row);

}  // namespace npuscope::report
