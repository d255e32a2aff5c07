// A timeline as a figure for a paper or a slide: SVG 1.1, vectors and text only.
//
//   const auto cells = analysis.cells(
//       profile, by_unit, rows, {.columns = svg_columns(rows, view), .fill = RowsBy::engine,
//                                .fills = svg_fills});
//   write_file_atomically("timeline.svg", as_byte_span(timeline_svg(profile, rows, cells, view)));
//
// A row for each row, bars coloured by the fills of the cells, an axis with its unit, a legend. The
// height of a bar is the share of its column of time that was at work, so that its area is the work
// however finely the time is cut; waits are a thin grey bar. What is shorter than a tenth of a
// point is merged, which bounds the file. Colours differ in lightness, so that they print in grey
// and are told apart by everyone (batlow, Crameri 2018). Names are data and escaped as such; there
// are no scripts, links or fonts inside.
#pragma once

#include <cstddef>
#include <string>

#include "npuscope/analysis/timeline_cells.hpp"

namespace npuscope::report {

inline constexpr std::size_t svg_fills = 6;  // and one for the others

struct SvgView {
  double width = 252;       // of the figure in points; a column of a two-column paper
  std::int64_t origin = 0;  // what times on the axis count from
};

// How many columns of time the figure can show.
std::size_t svg_columns(const analysis::TimelineRows& rows, const SvgView& view);

std::string timeline_svg(const Profile& profile, const analysis::TimelineRows& rows,
                         const analysis::TimelineCells& cells, const SvgView& view);

}  // namespace npuscope::report
