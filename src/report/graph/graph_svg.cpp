// A layered layout: boxes in rows by their longest way from the start, in each row near the boxes
// that they are connected with (barycentre, a few sweeps down and up).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "report/graph/graph_style.hpp"

namespace npuscope::report {
namespace {

constexpr int sweeps = 6;
constexpr double box_width = 190, box_height = 38, gap_across = 24, gap_down = 56, margin = 20;
constexpr std::size_t max_letters = 27;

struct Layout {
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<std::uint32_t> row, column;  // by box
};

Layout lay_out(const Drawing& drawing) {
  std::vector<Edge> edges;
  for (const DrawnEdge& edge : drawing.edges) {
    edges.push_back({OpId(edge.from), OpId(edge.to), EdgeKind::data});
  }
  const std::size_t count = drawing.nodes.size();
  const analysis::OpGraph graph(count, edges);
  const auto order = analysis::order_of(graph, analysis::EdgeKinds::all());
  Layout layout;
  layout.row.assign(count, 0);
  layout.column.assign(count, 0);
  for (const std::uint32_t box : order.ops) {
    for (const Edge& edge : graph.from(OpId(box))) {
      const std::uint32_t to = index_of(edge.to);
      if (order.rank[to] == order.rank[box]) continue;  // round a cycle: one row
      layout.row[to] = std::max(layout.row[to], layout.row[box] + 1);
    }
  }
  for (std::uint32_t box = 0; box < count; ++box) {
    if (layout.row[box] >= layout.rows.size()) layout.rows.resize(layout.row[box] + 1);
    auto& row = layout.rows[layout.row[box]];
    layout.column[box] = std::uint32_t(row.size());
    row.push_back(box);
  }
  std::vector<double> centre(count);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (std::size_t i = 0; i < layout.rows.size(); ++i) {
      auto& row = layout.rows[down ? i : layout.rows.size() - 1 - i];
      for (const std::uint32_t box : row) {
        double sum = 0;
        std::size_t near = 0;
        const auto add = [&](std::uint32_t other) {
          sum += layout.column[other];
          ++near;
        };
        if (down) {
          for (const std::uint32_t e : graph.to(OpId(box))) add(index_of(graph.edges()[e].from));
        } else {
          for (const Edge& edge : graph.from(OpId(box))) add(index_of(edge.to));
        }
        centre[box] = near > 0 ? sum / double(near) : layout.column[box];
      }
      std::stable_sort(row.begin(), row.end(),
                       [&](auto a, auto b) { return centre[a] < centre[b]; });
      for (std::uint32_t c = 0; c < row.size(); ++c) layout.column[row[c]] = c;
    }
  }
  return layout;
}

// XML 1.0 has no place for control characters even when escaped: printable() spells them out.
std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

// The end of a path says most; a letter of UTF-8 is kept whole.
std::string end_of(std::string_view text) {
  if (text.size() <= max_letters) return std::string(text);
  std::size_t begin = text.size() - max_letters + 1;
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) ++begin;
  return "\u2026" + std::string(text.substr(begin));
}

struct Point {
  double x = 0, y = 0;
};

}  // namespace

std::string svg_text(const Drawing& drawing) {
  const Layout layout = lay_out(drawing);
  std::size_t widest = 1;
  for (const auto& row : layout.rows) widest = std::max(widest, row.size());
  const double width = 2 * margin + double(widest) * (box_width + gap_across) - gap_across;
  const double height =
      2 * margin + double(layout.rows.size()) * (box_height + gap_down) - gap_down;
  const auto place = [&](std::uint32_t box) {
    const double row_width =
        double(layout.rows[layout.row[box]].size()) * (box_width + gap_across) - gap_across;
    return Point{(width - row_width) / 2 + layout.column[box] * (box_width + gap_across),
                 margin + layout.row[box] * (box_height + gap_down)};
  };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" "
      "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
      "<path d=\"M0,0 8,4 0,8z\" fill=\"#595959\"/></marker>\n",
      width, std::max(height, 2 * margin));
  for (const DrawnEdge& edge : drawing.edges) {
    const Point from = place(edge.from), to = place(edge.to);
    const double x1 = from.x + box_width / 2, y1 = from.y + box_height;
    const double x2 = to.x + box_width / 2, y2 = to.y;
    const char* dash = edge.kind == EdgeKind::reuse   ? " stroke-dasharray=\"6 4\""
                       : edge.kind == EdgeKind::order ? " stroke-dasharray=\"2 3\""
                                                      : "";
    out += fmt::format(
        "<path d=\"M{:.0f},{:.0f} C{:.0f},{:.0f} {:.0f},{:.0f} {:.0f},{:.0f}\" fill=\"none\" "
        "stroke=\"#8c8c8c\" stroke-width=\"{}\"{} marker-end=\"url(#tip)\"/>\n",
        x1, y1, x1, y1 + gap_down / 2, x2, y2 - gap_down / 2, x2, y2, thickness_of(edge.bytes),
        dash);
  }
  for (std::uint32_t box = 0; box < drawing.nodes.size(); ++box) {
    const DrawnNode& node = drawing.nodes[box];
    const Point at = place(box);
    const std::string second = second_line(drawing, node);
    out += fmt::format(
        "<g><title>{} {}</title><rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" "
        "height=\"{:.0f}\" rx=\"4\" fill=\"{}\" stroke=\"#595959\"/>"
        "<text x=\"{:.0f}\" y=\"{:.0f}\" font-weight=\"bold\">{}</text>"
        "<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text></g>\n",
        xml_escaped(node.name), xml_escaped(second), at.x, at.y, box_width, box_height,
        colour_of(node.engine), at.x + 6, at.y + 16, xml_escaped(end_of(node.name)), at.x + 6,
        at.y + 31, xml_escaped(end_of(second)));
  }
  return out + "</svg>\n";
}

}  // namespace npuscope::report
