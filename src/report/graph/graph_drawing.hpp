// A compiled graph as a picture: Graphviz text, or SVG with a layout of its own.
//
//   const auto drawing = draw_graph(view, {.by = DrawBy::name});
//   write_file_atomically("graph.svg", as_byte_span(svg_text(*drawing)));
//
// Boxes are the warmer the more of the time they took and bear the colour of their hardware at the
// left; lines are the thicker the more bytes their producer writes. Data runs from the top to the
// bottom; reused memory is dashed, order dotted. What only brings constants to an op is drawn with
// that op, unless it is asked for. Names are data: escaped for either language.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npuscope/base/result.hpp"
#include "report/graph/graph_document.hpp"

namespace npuscope::report {

constexpr std::size_t max_drawn = 2000;

// What becomes one box: an op, all ops of one name and kind (tiles), of one kind, or of one node of
// the model.
enum class DrawBy : std::uint8_t { op, name, kind, node };

struct DrawOptions {
  DrawBy by = DrawBy::op;
  std::vector<OpId> only = {};  // empty: all compiled ops
  analysis::EdgeKinds edges = analysis::EdgeKinds::all();
  bool loads = false;  // boxes for what brings constants too
};

struct DrawnNode {
  std::string name, kind;
  Engine engine = Engine::none;
  std::uint64_t ops = 0;
  std::int64_t work = -1;   // ticks, that of its loads too; -1: did not run
  std::uint64_t loads = 0;  // ops drawn with it that bring its constants or its data
};

struct DrawnEdge {
  std::uint32_t from = 0, to = 0;
  EdgeKind kind = EdgeKind::data;
  std::uint64_t bytes = 0;  // that the producers write
};

struct Drawing {
  const Profile* profile = nullptr;
  std::string scope;  // which inference the work is of (provenance.hpp); empty: there is one
  std::vector<DrawnNode> nodes;
  std::vector<DrawnEdge> edges;  // no loops
  std::int64_t work = 0;         // of all ops of the profile

  double share_of(const DrawnNode& node) const {
    return work > 0 && node.work > 0 ? double(node.work) / double(work) : 0;
  }
};

// A usage error, which says how to draw less, for more than `max_drawn` boxes.
Result<Drawing> draw_graph(const GraphView& view, const DrawOptions& options);

std::string dot_text(const Drawing& drawing);
// `selection`: what of the profile it is; empty: all.
std::string svg_text(const Drawing& drawing, const std::string& selection = {});

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
