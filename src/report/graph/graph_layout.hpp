// Where the boxes of a drawn graph stand: in ranks, every edge but those of reused memory leads to
// a lower one or, round a cycle, to the same.
//
//   const GraphLayout layout = lay_out(drawing);
//   layout.place[3]          {x, y}: the corner of box 3
//   layout.width, height     of all of it
//
// A box that nothing leads to stands one rank above the first that needs it, boxes that no edge
// connects stand last. In each rank boxes are near those that they are connected with (barycentre,
// a few sweeps down and up). Wide ranks go on in a second row, and a long graph in another column,
// so that it fits a page.
#pragma once

#include <string>
#include <vector>

#include "report/graph/graph_drawing.hpp"

namespace npuscope::report {

// How boxes and lines of a drawn graph look, whatever the language.

int thickness_of(std::uint64_t bytes);
std::string second_line(const Drawing& drawing, const DrawnNode& node);

inline constexpr double graph_box_width = 232, graph_box_height = 38;

struct GraphPoint {
  double x = 0, y = 0;
};

struct GraphLayout {
  std::vector<std::uint32_t> rank;  // by box
  std::vector<GraphPoint> place;    // by box
  double width = 0, height = 0;
};

GraphLayout lay_out(const Drawing& drawing);

}  // namespace npuscope::report
