#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "report/graph/graph_layout.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {
namespace {

constexpr double min_width = 640, stripe_width = 6, text_inset = 12, bend = 17;
constexpr double name_size = 12, detail_size = 11;
constexpr double bold_width = 1.1;  // of bold letters by others

// The end of a path says most; a letter of UTF-8 is kept whole.
std::string end_of(std::string_view name, double size) {
  const std::string text = printable(name);
  const double room = graph_box_width - text_inset - 4;
  if (text_width(text, size) <= room) return text;
  std::size_t begin = 0;
  while (begin < text.size() && text_width("…" + text.substr(begin), size) > room) {
    do {
      ++begin;
    } while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80);
  }
  return "…" + text.substr(begin);
}

const char* dash_of(EdgeKind kind) {
  return kind == EdgeKind::reuse ? "6 4" : kind == EdgeKind::order ? "2 3" : "";
}

class GraphPicture {
 public:
  GraphPicture(const Drawing& drawing, const std::string& selection)
      : drawing_(drawing),
        layout_(lay_out(drawing)),
        figure_(std::max(min_width, layout_.width + 2 * figure_margin),
                picture_heading("Compiled graph", *drawing.profile,
                                {.scope = drawing.scope, .selection = selection})),
        left_(figure_margin + (figure_.width() - 2 * figure_margin - layout_.width) / 2) {}

  std::string draw() {
    for (const DrawnEdge& edge : drawing_.edges) add_edge(edge);
    for (std::uint32_t box = 0; box < drawing_.nodes.size(); ++box) add_box(box);
    figure_.skip(layout_.height + figure_margin);
    figure_.add_legend(legend());
    add_remarks();
    return figure_.svg();
  }

 private:
  GraphPoint corner_of(std::uint32_t box) const {
    return {left_ + layout_.place[box].x, figure_.y() + layout_.place[box].y};
  }
  void add_edge(const DrawnEdge& edge);
  void add_box(std::uint32_t box);
  std::vector<LegendEntry> legend() const;
  void add_remarks();

  const Drawing& drawing_;
  GraphLayout layout_;
  Figure figure_;
  double left_;
};

void GraphPicture::add_edge(const DrawnEdge& edge) {
  constexpr double head = 5;
  const bool is_reuse = edge.kind == EdgeKind::reuse;
  const char* const colour = is_reuse ? "#c3c9cf" : "#8c959e";
  const GraphPoint from = corner_of(edge.from), to = corner_of(edge.to);
  const double x1 = from.x + graph_box_width / 2, y1 = from.y + graph_box_height;
  const double x2 = to.x + graph_box_width / 2, y2 = to.y;
  figure_.line(fmt::format("M{} {}C{} {} {} {} {} {}", svg_number(x1), svg_number(y1),
                           svg_number(x1), svg_number(y1 + bend), svg_number(x2),
                           svg_number(y2 - bend), svg_number(x2), svg_number(y2 - head)),
               colour, is_reuse ? 1 : thickness_of(edge.bytes), dash_of(edge.kind));
  figure_.filled_path(
      fmt::format("M{} {}l-{} -{}h{}z", svg_number(x2), svg_number(y2), head, head + 2, 2 * head),
      "#8c959e");
}

void GraphPicture::add_box(std::uint32_t box) {
  const DrawnNode& node = drawing_.nodes[box];
  const auto [x, y] = corner_of(box);
  const std::string second = second_line(drawing_, node);
  const std::string tooltip = node.name + ": " + second;
  figure_.rect({x - 1, y - 1, graph_box_width + 2, graph_box_height + 2}, "#8c959e");
  figure_.rect({x, y, graph_box_width, graph_box_height}, heat_colour(drawing_.share_of(node)),
               tooltip);
  figure_.rect({x, y, stripe_width, graph_box_height}, engine_colour(node.engine), tooltip);
  figure_.text(x + text_inset, y + 16, Anchor::start, end_of(node.name, name_size * bold_width),
               {.size = name_size, .bold = true, .tooltip = tooltip});
  figure_.text(x + text_inset, y + 31, Anchor::start,
               fitting_text(second, graph_box_width - text_inset - 4, detail_size),
               {.size = detail_size, .tooltip = tooltip});
}

std::vector<LegendEntry> GraphPicture::legend() const {
  std::vector<LegendEntry> entries;
  for (std::size_t i = 0; i < engine_count; ++i) {
    const bool is_there = std::ranges::any_of(
        drawing_.nodes, [&](const DrawnNode& node) { return node.engine == Engine(i); });
    if (is_there && Engine(i) != Engine::none) {
      entries.push_back({engine_colour(Engine(i)), name_of(Engine(i))});
    }
  }
  if (drawing_.work <= 0) return entries;
  for (const double share : {0.01, 0.05, 0.2, 0.5}) {
    entries.push_back({heat_colour(share), fmt::format("{:.0f} % of the work", 100 * share)});
  }
  return entries;
}

void GraphPicture::add_remarks() {
  const auto has = [&](EdgeKind kind) {
    return std::ranges::any_of(drawing_.edges,
                               [&](const DrawnEdge& edge) { return edge.kind == kind; });
  };
  std::uint64_t loads = 0;
  for (const DrawnNode& node : drawing_.nodes) loads += node.loads;
  std::string remark = "Lines are the thicker the more bytes their producer writes.";
  if (has(EdgeKind::reuse)) remark += " Dashed: reused memory.";
  if (has(EdgeKind::order)) remark += " Dotted: order only.";
  if (loads > 0) {
    remark += fmt::format(
        " {} ops that only load for one other op are drawn with it; --loads shows them.",
        thousands(loads));
  }
  figure_.add_remark(remark);
}

}  // namespace

std::string svg_text(const Drawing& drawing, const std::string& selection) {
  return GraphPicture(drawing, selection).draw();
}

}  // namespace npuscope::report
