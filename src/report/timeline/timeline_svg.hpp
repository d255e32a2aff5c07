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
#pragma once

#include <cstddef>
#include <string>

#include "npuscope/analysis/timeline_cells.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

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
