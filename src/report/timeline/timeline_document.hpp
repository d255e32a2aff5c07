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

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "npuscope/analysis/timeline_cells.hpp"
#include "report/document/document.hpp"
#include "report/picture/figure.hpp"

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

// A timeline as a picture.
//
//   const auto cells = analysis.cells(
//       rows, {.columns = svg_columns(profile, rows, view), .fill = RowsBy::engine,
//              .fills = svg_fills});
//   write_file_atomically("timeline.svg", as_byte_span(timeline_svg(profile, rows, cells, view)));
//
// The rows of a core together, under one bracket; bars in the colours of the cells'
// fills, waits a thin light line, a legend, and below an axis with its unit. The height of a bar is
// the share of its column of time that was at work, so that its area is the work however finely
// the time is cut. What is shorter than a quarter of a pixel is merged, which bounds the file. A
// bar says what it is when the pointer is on it, as long as there are not too many of them.

inline constexpr std::size_t svg_fills = 6;  // and one for the others

struct SvgView : PictureView {
  std::int64_t origin = 0;  // what times on the axis count from
  // What the cells' fills are; none: there are none.
  std::optional<analysis::RowsBy> fill = analysis::RowsBy::engine;
};

// How many columns of time the picture can show.
std::size_t svg_columns(const Profile& profile, const analysis::TimelineRows& rows,
                        const SvgView& view);

std::string timeline_svg(const Profile& profile, const analysis::TimelineRows& rows,
                         const analysis::TimelineCells& cells, const SvgView& view);

}  // namespace npuscope::report
