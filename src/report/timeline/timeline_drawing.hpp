// A timeline as lines of text: an axis, a line for each row, and the longest gaps below.
//
//                0         20,000    40,000    60,000     busy
//                |         |         |         |         cycles
//   HMX 256     |#####--+##.  ###--+####----####     |   41.6 %
//   HVX 512     |     ##      ##         ###         |   12.0 %
//   gaps        |    1      2        3               |
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "npuscope/analysis/timeline_cells.hpp"
#include "npuscope/analysis/timeline_rows.hpp"
#include "report/timeline/timeline_document.hpp"

namespace npuscope::report {

// What the rows of a timeline are called. A drawing in text has a line for each:
//
//   const RowLabels labels = row_labels(rows);
//   labels.common                  "server": what all rows are of; empty: nothing
//   labels.rows[4]                 "core 0 > HMX 4"
//
// A picture has those of one core together, its DMA too, under one name:
//
//   const TimelineLanes lanes = lanes_of(profile, rows);
//   lanes.common                   "server": what all rows are of; empty: nothing
//   lanes.groups[0].label          "core 0"; empty where there is one group
//   lanes.groups[0].lanes[4]       {.label = "HMX 4", .row = 4}
struct RowLabels {
  std::string common;
  std::vector<std::string> rows;
};
RowLabels row_labels(const analysis::TimelineRows& rows);

struct TimelineLane {
  std::string label;
  std::size_t row = 0;  // of the rows
};

struct LaneGroup {
  std::string label;
  std::vector<TimelineLane> lanes;
};

struct TimelineLanes {
  std::string common;
  std::vector<LaneGroup> groups;  // in the order of their first rows

  std::size_t lane_count() const;
};

TimelineLanes lanes_of(const Profile& profile, const analysis::TimelineRows& rows);

std::vector<std::string> draw_timeline(const Profile& profile, const analysis::TimelineRows& rows,
                                       const analysis::TimelineCells& cells,
                                       const TimelineView& view);

// What the characters mean: "# at work 7/8 of the column or more, …".
std::string legend_of(const TimelineView& view, bool has_waits);

// The letter of a fill: A for the one with most work; * for the others together.
char letter_of(const analysis::TimelineCells& cells, std::size_t fill);

}  // namespace npuscope::report
