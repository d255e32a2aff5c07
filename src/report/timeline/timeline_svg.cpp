#include "report/timeline/timeline_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "report/document/svg_output.hpp"
#include "report/document/text_table.hpp"
#include "report/timeline/timeline_axis.hpp"
#include "report/timeline/timeline_drawing.hpp"

namespace npuscope::report {
namespace {

using analysis::TimelineCell;
using analysis::TimelineCells;
using analysis::TimelineRows;

// All lengths in points.
constexpr double font_size = 7, character_width = 0.55 * font_size, line_height = 9;
constexpr double row_height = 8, row_pitch = 10, page_margin = 3, tick_length = 3;
constexpr double swatch = 6, legend_gap = 8;
constexpr double finest = 0.1;
constexpr std::size_t max_cells = 100'000;  // of all rows: bounds the file
constexpr int levels = 8;                   // of a bar's height

// Darkest first, in steps of lightness (batlow, F. Crameri, Scientific colour maps).
constexpr std::array batlow{"#011959", "#103F60", "#1C5A62", "#3C6D56", "#687B3E",
                            "#9D892B", "#D29343", "#F8A17B", "#FDB7BC", "#FACCFA"};
constexpr const char* colour_of_waits = "#8C8C8C";

// As far apart from one another as the map allows.
const char* colour_of(std::size_t fill, std::size_t fills) {
  if (fills <= 1) return batlow[2];
  return batlow[fill * (batlow.size() - 1) / (fills - 1)];
}

double label_space(const RowLabels& labels, double width) {
  std::size_t widest = 3;
  for (const std::string& label : labels.rows) widest = std::max(widest, columns_of(label));
  return std::min(double(widest) * character_width + 4, width / 3);
}

double plot_width(const TimelineRows& rows, const SvgView& view) {
  return view.width - 2 * page_margin - label_space(row_labels(rows), view.width) - 8;
}

class Figure {
 public:
  Figure(const Profile& profile, const TimelineRows& rows, const TimelineCells& cells,
         const SvgView& view)
      : profile_(profile),
        rows_(rows),
        cells_(cells),
        view_(view),
        labels_(row_labels(rows)),
        left_(page_margin + label_space(labels_, view.width)),
        width_(plot_width(rows, view)) {}

  std::string draw();

 private:
  double x_of_column(std::size_t column) const {
    return left_ +
           width_ * double(column) / double(std::max<std::size_t>(1, cells_.columns.count()));
  }
  double x_of_time(std::int64_t time) const {
    const double part = double(saturating_subtract(time, rows_.window.begin)) /
                        double(std::max<std::int64_t>(1, rows_.wall));
    return left_ + width_ * std::clamp(part, 0.0, 1.0);
  }
  // How much of a column is at work, in eighths, at least one where anything is.
  int level_of(const TimelineCell& cell, std::size_t column) const;
  void add_row(std::size_t row);
  void add_bars(std::size_t row);
  void add_waits(std::size_t row);
  void add_axis();
  void add_legend();
  void text(double x, double y, const char* anchor, std::string_view content);

  const Profile& profile_;
  const TimelineRows& rows_;
  const TimelineCells& cells_;
  const SvgView& view_;
  RowLabels labels_;
  double left_, width_;
  double y_ = page_margin;
  std::string body_;
};

void Figure::text(double x, double y, const char* anchor, std::string_view content) {
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", svg_number(x),
                       svg_number(y), anchor, svg_escaped(content));
}

int Figure::level_of(const TimelineCell& cell, std::size_t column) const {
  if (cell.busy <= 0) return 0;
  const double share =
      double(cell.busy) / double(std::max<std::int64_t>(1, cells_.columns.length_of(column)));
  return std::clamp(int(share * levels + 0.5), 1, levels);
}

// Columns beside one another with the same colour and height are one bar.
void Figure::add_bars(std::size_t row) {
  const auto& cells = cells_.rows[row];
  std::vector<std::string> paths(std::max<std::size_t>(1, cells_.fills.size()));
  for (std::size_t first = 0; first < cells.size();) {
    const int level = level_of(cells[first], first);
    std::size_t next = first + 1;
    while (next < cells.size() && level_of(cells[next], next) == level &&
           (level == 0 || cells[next].max == cells[first].max)) {
      ++next;
    }
    if (level > 0) {
      const double height = row_height * level / levels;
      const std::size_t fill = cells[first].max < paths.size() ? cells[first].max : 0;
      paths[fill] += fmt::format("M{} {}H{}v-{}H{}z", svg_number(x_of_column(first)),
                                 svg_number(y_ + row_height), svg_number(x_of_column(next)),
                                 svg_number(height), svg_number(x_of_column(first)));
    }
    first = next;
  }
  for (std::size_t fill = 0; fill < paths.size(); ++fill) {
    if (paths[fill].empty()) continue;
    body_ += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", colour_of(fill, cells_.fills.size()),
                         paths[fill]);
  }
}

void Figure::add_waits(std::size_t row) {
  constexpr double height = row_height / 4, from_base = row_height / 8 * 3;
  const auto& cells = cells_.rows[row];
  const auto waits = [&](std::size_t column) { return cells[column].waiting > cells[column].busy; };
  std::string path;
  for (std::size_t first = 0; first < cells.size(); ++first) {
    if (!waits(first)) continue;
    std::size_t next = first + 1;
    while (next < cells.size() && waits(next)) ++next;
    path += fmt::format("M{} {}H{}v-{}H{}z", svg_number(x_of_column(first)),
                        svg_number(y_ + row_height - from_base), svg_number(x_of_column(next)),
                        svg_number(height), svg_number(x_of_column(first)));
    first = next;
  }
  if (!path.empty()) body_ += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", colour_of_waits, path);
}

void Figure::add_row(std::size_t row) {
  text(left_ - 4, y_ + row_height - 1.5, "end", labels_.rows[row]);
  body_ += fmt::format("<path stroke=\"#CCCCCC\" stroke-width=\"0.3\" d=\"M{} {}h{}\"/>\n",
                       svg_number(left_), svg_number(y_ + row_height), svg_number(width_));
  add_waits(row);
  add_bars(row);
  y_ += row_pitch;
}

void Figure::add_axis() {
  constexpr double room_per_mark = 48;
  const TimelineAxis axis =
      make_axis(profile_, rows_.window, view_.origin,
                std::max<std::size_t>(2, std::size_t(width_ / room_per_mark) + 1));
  body_ += fmt::format("<path stroke=\"#000000\" stroke-width=\"0.5\" fill=\"none\" d=\"M{} {}h{}",
                       svg_number(left_), svg_number(y_), svg_number(width_));
  for (const TimelineMark& mark : axis.marks) {
    body_ += fmt::format("M{} {}v{}", svg_number(x_of_time(mark.time)), svg_number(y_),
                         svg_number(tick_length));
  }
  body_ += "\"/>\n";
  y_ += tick_length + line_height - 2;
  for (const TimelineMark& mark : axis.marks) {
    const double half = double(columns_of(mark.text)) * character_width / 2;
    const double x = x_of_time(mark.time);
    const bool at_end = x + half > view_.width - page_margin;
    text(at_end ? view_.width - page_margin : x, y_, at_end ? "end" : "middle", mark.text);
  }
  y_ += line_height;
  text(left_ + width_ / 2, y_, "middle", fmt::format("time ({})", axis.unit));
  y_ += line_height / 2;
}

void Figure::add_legend() {
  std::vector<std::pair<std::string, std::string>> entries;  // colour and name
  for (std::size_t fill = 0; fill < cells_.fills.size(); ++fill) {
    const bool others = cells_.fills_together > 0 && fill + 1 == cells_.fills.size();
    entries.push_back({colour_of(fill, cells_.fills.size()),
                       others ? fmt::format("{} others", thousands(cells_.fills_together))
                              : printable(cells_.fills[fill].label)});
  }
  if (cells_.fills.empty()) entries.push_back({colour_of(0, 0), "work"});
  if (rows_.waits.sum > 0) entries.push_back({colour_of_waits, "waiting"});
  constexpr double top_of_letters = 5.5;
  const double right = view_.width - page_margin;
  const auto max = std::size_t((right - page_margin - swatch - 3) / character_width);
  double x = page_margin;
  y_ += line_height;
  for (const auto& [colour, full_name] : entries) {
    const std::string name = shortened(full_name, std::min<std::size_t>(max, 28));
    const double taken = swatch + 3 + double(columns_of(name)) * character_width;
    if (x > page_margin && x + taken > right) {
      x = page_margin;
      y_ += line_height;
    }
    const bool is_wait = colour == colour_of_waits;
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                         svg_number(x), svg_number(y_ - top_of_letters + (is_wait ? 2 : 0)),
                         svg_number(swatch), svg_number(is_wait ? swatch / 3 : swatch), colour);
    text(x + swatch + 3, y_, "start", name);
    x += taken + legend_gap;
  }
  y_ += page_margin;
}

std::string Figure::draw() {
  const auto room = std::size_t((left_ - page_margin - 4) / character_width);
  labels_.rows = shortened_apart(labels_.rows, room);
  for (std::size_t row = 0; row < rows_.rows.size(); ++row) add_row(row);
  add_axis();
  add_legend();
  const std::string width = svg_number(view_.width), height = svg_number(y_);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}pt\" height=\"{1}pt\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"{2}\">\n",
      width, height, svg_number(font_size));
  out += fmt::format("<title>{}</title>\n",
                     svg_escaped(fmt::format("Timeline by {}", name_of(rows_.by))));
  out += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"#FFFFFF\"/>\n", width, height);
  return out + body_ + "</svg>\n";
}

}  // namespace

std::size_t svg_columns(const TimelineRows& rows, const SvgView& view) {
  const auto columns = std::size_t(std::max(1.0, plot_width(rows, view) / finest));
  return std::max<std::size_t>(
      100, std::min(columns, max_cells / std::max<std::size_t>(1, rows.rows.size())));
}

std::string timeline_svg(const Profile& profile, const TimelineRows& rows,
                         const TimelineCells& cells, const SvgView& view) {
  return Figure(profile, rows, cells, view).draw();
}

}  // namespace npuscope::report
