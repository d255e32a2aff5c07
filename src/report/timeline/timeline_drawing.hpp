// A timeline as lines of text: an axis, a line for each row, and the longest gaps below.
//
//                0         20,000    40,000    60,000     busy
//                |         |         |         |         cycles
//   HMX 256     |#####--+##.  ###--+####----####     |   41.6 %
//   HVX 512     |     ##      ##         ###         |   12.0 %
//   gaps        |    1      2        3               |
#pragma once

#include <string>
#include <vector>

#include "npuscope/analysis/timeline_cells.hpp"
#include "report/timeline/timeline_document.hpp"

namespace npuscope::report {

std::vector<std::string> draw_timeline(const Profile& profile, const analysis::TimelineRows& rows,
                                       const analysis::TimelineCells& cells,
                                       const TimelineView& view);

// What the characters mean: "# at work 7/8 of the column or more, …".
std::string legend_of(const TimelineView& view, bool has_waits);

// The letter of a fill: A for the one with most work; * for the others together.
char letter_of(const analysis::TimelineCells& cells, std::size_t fill);

}  // namespace npuscope::report
