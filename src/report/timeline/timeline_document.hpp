// The page of npuscope timeline: the drawing, its rows, the wall and the longest gaps.
//
//   const TimelineView view{.width = 100, .origin = part.origin};
//   const auto columns = timeline_columns(rows, view);
//   const auto cells = analysis.cells(rows, {.columns = columns});
//   document_text(make_timeline_document(profile, rows, cells, view), view.width)
//
//   TIMELINE by unit, 64,829 cycles
//                     0              20,000              40,000              60,000   busy of
//                     |              |                   |                   |           wall
//   HMX 256          |##---####-   …                                             |     41.6 %
//
// Characters are wider than columns of time where there are fewer ticks than characters.
#pragma once

#include <cstdint>
#include <optional>

#include "npuscope/analysis/timeline_cells.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

struct TimelineView {
  std::size_t width = 100;  // of the page, as given to document_text()
  std::int64_t origin = 0;  // what times on the axis count from
  bool blocks = false;      // draw with █ ▓ ▒ ░, not with # + .
  bool of_ops = false;      // only some ops are selected: the rest of a row is not idle
  bool of_part = false;     // only some ops, units or cores are
  std::optional<analysis::RowsBy> fill{};  // as the cells were painted
};

// How many columns of time fit on the page.
std::size_t timeline_columns(const analysis::TimelineRows& rows, const TimelineView& view);

Document make_timeline_document(const Profile& profile, const analysis::TimelineRows& rows,
                                const analysis::TimelineCells& cells, const TimelineView& view);

// "unit", "engine", …, as --by takes them.
// What time with work of such a row is called: a unit is busy, a group of ops is active.
const char* name_of_busy(analysis::RowsBy by);

}  // namespace npuscope::report
