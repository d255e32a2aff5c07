#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "report/graph/graph_drawing.hpp"
#include "report/picture/figure.hpp"

namespace npuscope::report {

namespace {

constexpr int sweeps = 6;
constexpr double gap_across = 22, gap_down = 34, gap_of_columns = 56;
constexpr std::size_t most_across = 6;  // boxes in a row
constexpr double page_shape = 1.4;      // height by width
constexpr std::size_t least_rows = 14;  // of a column

using Rank = std::vector<std::uint32_t>;

class Ranking {
 public:
  explicit Ranking(const Drawing& drawing)
      : graph_(drawing.nodes.size(), edges_of(drawing)), rank_(drawing.nodes.size(), 0) {}

  std::vector<Rank> ranks() {
    place_by_longest_way();
    pull_down_sources();
    std::vector<Rank> ranks;
    Rank alone;
    for (std::uint32_t box = 0; box < rank_.size(); ++box) {
      const auto id = OpId(box);
      if (graph_.from(id).empty() && graph_.to(id).empty()) {
        alone.push_back(box);
        continue;
      }
      if (rank_[box] >= ranks.size()) ranks.resize(rank_[box] + 1);
      ranks[rank_[box]].push_back(box);
    }
    std::erase_if(ranks, [](const Rank& rank) { return rank.empty(); });
    order(ranks);
    if (!alone.empty()) ranks.push_back(std::move(alone));
    return ranks;
  }

 private:
  static std::vector<Edge> edges_of(const Drawing& drawing) {
    std::vector<Edge> edges;
    for (const DrawnEdge& edge : drawing.edges) {
      if (edge.kind == EdgeKind::reuse) continue;  // of memory, which is no flow
      edges.push_back({OpId(edge.from), OpId(edge.to), EdgeKind::data});
    }
    return edges;
  }

  void place_by_longest_way() {
    const auto order = analysis::order_of(graph_, analysis::EdgeKinds::all());
    for (const std::uint32_t box : order.ops) {
      for (const Edge& edge : graph_.from(OpId(box))) {
        const std::uint32_t to = index_of(edge.to);
        if (order.rank[to] == order.rank[box]) continue;  // round a cycle: one rank
        rank_[to] = std::max(rank_[to], rank_[box] + 1);
      }
    }
  }

  void pull_down_sources() {
    for (std::uint32_t box = 0; box < rank_.size(); ++box) {
      const auto consumers = graph_.from(OpId(box));
      if (!graph_.to(OpId(box)).empty() || consumers.empty()) continue;
      std::uint32_t first = rank_[index_of(consumers.front().to)];
      for (const Edge& edge : consumers) first = std::min(first, rank_[index_of(edge.to)]);
      rank_[box] = first > 0 ? first - 1 : 0;
    }
  }

  void order(std::vector<Rank>& ranks) const {
    std::vector<std::uint32_t> column(rank_.size(), 0);
    for (const Rank& rank : ranks) {
      for (std::uint32_t i = 0; i < rank.size(); ++i) column[rank[i]] = i;
    }
    std::vector<double> centre(rank_.size());
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        Rank& rank = ranks[down ? i : ranks.size() - 1 - i];
        for (const std::uint32_t box : rank) centre[box] = centre_of(box, down, column);
        sort_rows(rank, {}, [&](std::uint32_t box) { return centre[box]; });
        for (std::uint32_t c = 0; c < rank.size(); ++c) column[rank[c]] = c;
      }
    }
  }

  double centre_of(std::uint32_t box, bool down, const std::vector<std::uint32_t>& column) const {
    double sum = 0;
    std::size_t near = 0;
    const auto add = [&](OpId other) {
      sum += column[index_of(other)];
      ++near;
    };
    if (down) {
      for (const std::uint32_t edge : graph_.to(OpId(box))) add(graph_.edges()[edge].from);
    } else {
      for (const Edge& edge : graph_.from(OpId(box))) add(edge.to);
    }
    return near > 0 ? sum / double(near) : column[box];
  }

  analysis::OpGraph graph_;
  std::vector<std::uint32_t> rank_;
};

// Ranks that are too wide go on in the next row.
std::vector<Rank> rows_of(const std::vector<Rank>& ranks) {
  std::vector<Rank> rows;
  for (const Rank& rank : ranks) {
    for (std::size_t first = 0; first < rank.size(); first += most_across) {
      const std::size_t last = std::min(first + most_across, rank.size());
      rows.emplace_back(rank.begin() + std::ptrdiff_t(first), rank.begin() + std::ptrdiff_t(last));
    }
  }
  return rows;
}

double width_of(std::size_t boxes) {
  return double(boxes) * (graph_box_width + gap_across) - gap_across;
}

// The rows cut into columns so that all of it has about the shape of a page: as few as do.
std::size_t rows_of_a_column(const std::vector<Rank>& rows) {
  std::size_t widest = 1;
  for (const Rank& row : rows) widest = std::max(widest, row.size());
  const double row_height = graph_box_height + gap_down;
  std::size_t height = rows.size();
  for (std::size_t columns = 2; height > least_rows; ++columns) {
    const double width = double(columns - 1) * (width_of(widest) + gap_of_columns);
    if (double(height) * row_height <= page_shape * std::max(width, 900.0)) break;
    height = std::max(least_rows, (rows.size() + columns - 1) / columns);
  }
  return std::max<std::size_t>(1, height);
}

}  // namespace

GraphLayout lay_out(const Drawing& drawing) {
  const std::vector<Rank> ranks = Ranking(drawing).ranks();
  GraphLayout layout;
  layout.rank.assign(drawing.nodes.size(), 0);
  layout.place.assign(drawing.nodes.size(), {});
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    for (const std::uint32_t box : ranks[rank]) layout.rank[box] = rank;
  }
  const std::vector<Rank> rows = rows_of(ranks);
  const std::size_t height = rows_of_a_column(rows);
  double left = 0;
  for (std::size_t first = 0; first < rows.size(); first += height) {
    const std::size_t last = std::min(first + height, rows.size());
    std::size_t widest = 1;
    for (std::size_t row = first; row < last; ++row) widest = std::max(widest, rows[row].size());
    for (std::size_t row = first; row < last; ++row) {
      const double inset = (width_of(widest) - width_of(rows[row].size())) / 2;
      const double y = double(row - first) * (graph_box_height + gap_down);
      for (std::size_t i = 0; i < rows[row].size(); ++i) {
        layout.place[rows[row][i]] = {left + inset + double(i) * (graph_box_width + gap_across), y};
      }
    }
    left += width_of(widest) + gap_of_columns;
  }
  layout.width = std::max(0.0, left - gap_of_columns);
  layout.height = std::max(
      0.0, double(std::min(height, rows.size())) * (graph_box_height + gap_down) - gap_down);
  return layout;
}

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
  figure_.line(
      svg_path("M{} {}C{} {} {} {} {} {}", x1, y1, x1, y1 + bend, x2, y2 - bend, x2, y2 - head),
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
    remark += fmt::format(" {} drawn with it; --loads shows them.",
                          counted(loads, "op that only loads for one other op is",
                                  "ops that only load for one other op are"));
  }
  figure_.add_remark(remark);
}

}  // namespace

std::string svg_text(const Drawing& drawing, const std::string& selection) {
  return GraphPicture(drawing, selection).draw();
}

}  // namespace npuscope::report
