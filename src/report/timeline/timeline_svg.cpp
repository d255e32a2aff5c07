#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/picture/axes.hpp"
#include "report/picture/figure.hpp"
#include "report/timeline/timeline_document.hpp"
#include "report/timeline/timeline_drawing.hpp"

namespace npuscope::report {
namespace {

using analysis::RowsBy;
using analysis::TimelineCell;
using analysis::TimelineCells;
using analysis::TimelineRow;
using analysis::TimelineRows;

constexpr double bar_height = 14, lane_pitch = 18, group_gap = 8;
constexpr double bracket_room = 16, share_room = 58, label_gap = 8;
constexpr double finest = 0.25;
constexpr std::size_t max_cells = 100'000;  // of all rows: bounds the file
constexpr std::size_t max_tooltips = 4'000;
constexpr int levels = 8;  // of a bar's height

bool has_brackets(const TimelineLanes& lanes) { return lanes.groups.size() > 1; }

// From the margin to where the time begins.
double label_room(const TimelineLanes& lanes, double width) {
  double of_lanes = 0, of_groups = 0;
  for (const LaneGroup& group : lanes.groups) {
    of_groups = std::max(of_groups, text_width(group.label));
    for (const TimelineLane& lane : group.lanes) {
      of_lanes = std::max(of_lanes, text_width(lane.label));
    }
  }
  const double max = width / (has_brackets(lanes) ? 5 : 3);
  const double room = std::min(of_lanes, max) + label_gap;
  return has_brackets(lanes) ? room + std::min(of_groups, max) + bracket_room : room;
}

double plot_width(const TimelineLanes& lanes, double width) {
  return std::max(20.0, width - 2 * figure_margin - label_room(lanes, width) - share_room);
}

FigureHeading heading_of(const Profile& profile, const TimelineRows& rows,
                         const TimelineLanes& lanes, const SvgView& view) {
  std::string wall = "wall " + ticks_text(profile, profile.base_clock, double(rows.wall));
  if (!shows_time(profile, profile.base_clock)) {
    wall += " " + unit_of(profile, profile.base_clock);
  }
  PictureFacts about{.facts = {wall}, .scope = scope_of_all(profile), .selection = view.selection};
  if (!lanes.common.empty()) about.facts.push_back(lanes.common);
  return picture_heading(fmt::format("Timeline by {}", name_of(rows.by)), profile, about);
}

class TimelinePicture {
 public:
  TimelinePicture(const Profile& profile, const TimelineRows& rows, const TimelineCells& cells,
                  const SvgView& view)
      : profile_(profile),
        rows_(rows),
        cells_(cells),
        view_(view),
        lanes_(lanes_of(profile, rows)),
        figure_(view.width, heading_of(profile, rows, lanes_, view)),
        width_(plot_width(lanes_, view.width)),
        left_(view.width - figure_margin - share_room - width_),
        has_tooltips_(bar_count() <= max_tooltips) {}

  std::string draw() {
    constexpr double room_per_mark = 80;
    const TimelineAxis axis =
        make_axis(profile_, rows_.window, view_.origin,
                  std::max<std::size_t>(2, std::size_t(width_ / room_per_mark) + 1));
    add_grid(axis, double(lanes_.lane_count()) * lane_pitch +
                       double(lanes_.groups.empty() ? 0 : lanes_.groups.size() - 1) * group_gap);
    for (std::size_t i = 0; i < lanes_.groups.size(); ++i) {
      if (i > 0) figure_.skip(group_gap);
      for (const TimelineLane& lane : lanes_.groups[i].lanes) add_lane(lane);
      add_bracket(lanes_.groups[i]);
    }
    add_axis(axis);
    figure_.skip(6);
    figure_.add_legend(legend());
    return figure_.svg();
  }

 private:
  struct Bar {  // neighbouring columns of one fill, all at work
    std::size_t first = 0, last = 0;
  };

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

  int level_of(const TimelineCell& cell, std::size_t column) const {
    if (cell.busy <= 0) return 0;
    const double share =
        double(cell.busy) / double(std::max<std::int64_t>(1, cells_.columns.length_of(column)));
    return std::clamp(int(std::lround(share * levels)), 1, levels);
  }

  std::vector<Bar> bars_of(std::size_t row) const {
    const auto& cells = cells_.rows[row];
    std::vector<Bar> bars;
    for (std::size_t first = 0; first < cells.size();) {
      std::size_t next = first + 1;
      if (cells[first].busy > 0) {
        while (next < cells.size() && cells[next].busy > 0 && cells[next].max == cells[first].max) {
          ++next;
        }
        bars.push_back({first, next});
      }
      first = next;
    }
    return bars;
  }

  std::size_t bar_count() const {
    std::size_t count = 0;
    for (std::size_t row = 0; row < rows_.rows.size(); ++row) count += bars_of(row).size();
    return count;
  }

  // Columns of one height are one box of it.
  std::string path_of_bar(std::size_t row, const Bar& bar) const {
    const auto& cells = cells_.rows[row];
    const std::string base = svg_number(figure_.y() + bar_height);
    std::string path;
    for (std::size_t first = bar.first; first < bar.last;) {
      const int level = level_of(cells[first], first);
      std::size_t next = first + 1;
      while (next < bar.last && level_of(cells[next], next) == level) ++next;
      path += fmt::format("M{0} {1}H{2}v-{3}H{0}z", svg_number(x_of_column(first)), base,
                          svg_number(x_of_column(next)), svg_number(bar_height * level / levels));
      first = next;
    }
    return path;
  }

  std::string tooltip_of(const TimelineLane& lane, const Bar& bar) const {
    const auto& cells = cells_.rows[lane.row];
    double busy = 0;
    for (std::size_t column = bar.first; column < bar.last; ++column) {
      busy += double(cells[column].busy);
    }
    const std::int64_t begin = cells_.columns.begin_of(bar.first);
    const std::int64_t end = cells_.columns.begin_of(bar.last);
    const std::uint32_t fill = cells[bar.first].max;
    std::string text = lane.label;
    if (fill < cells_.fills.size() && cells_.fills[fill].label != lane.label) {
      text += ", " + cells_.fills[fill].label;
    }
    return fmt::format(
        "{}: {} to {} {}, {} at work", text, time_text(begin), time_text(end),
        shows_time(profile_, profile_.base_clock) ? "" : unit_of(profile_, profile_.base_clock),
        percent_text(busy, double(saturating_subtract(end, begin))));
  }

  const char* colour_of_fill(std::uint32_t fill) const {
    if (fill >= cells_.fills.size()) return shade(0, 1);
    const std::uint32_t group = cells_.fills[fill].group;
    if (view_.fill == RowsBy::engine && group < engine_count) return engine_colour(Engine(group));
    return shade(fill, cells_.fills.size());
  }

  std::string time_text(std::int64_t time) const {
    return ticks_text(profile_, profile_.base_clock,
                      double(saturating_subtract(time, view_.origin)));
  }

  void add_grid(const TimelineAxis& axis, double height) {
    for (const TimelineMark& mark : axis.marks) {
      figure_.line(svg_path("M{} {}v{}", x_of_time(mark.time), figure_.y(), height), grid_colour);
    }
  }

  void add_lane(const TimelineLane& lane) {
    constexpr double baseline = 11.5;
    const TimelineRow& row = rows_.rows[lane.row];
    const double room = view_.width / (has_brackets(lanes_) ? 5 : 3);
    figure_.text(left_ - label_gap, figure_.y() + baseline, Anchor::end,
                 fitting_text(lane.label, room), {.tooltip = row.label});
    add_waits(lane);
    add_bars(lane);
    figure_.text(view_.width - figure_margin, figure_.y() + baseline, Anchor::end,
                 percent_text(double(row.busy), double(rows_.wall)), {.colour = quiet_colour});
    figure_.skip(lane_pitch);
  }

  void add_bars(const TimelineLane& lane) {
    if (has_tooltips_) {
      for (const Bar& bar : bars_of(lane.row)) {
        figure_.filled_path(path_of_bar(lane.row, bar),
                            colour_of_fill(cells_.rows[lane.row][bar.first].max),
                            tooltip_of(lane, bar));
      }
      return;
    }
    std::vector<std::string> paths(cells_.fills.size() + 1);  // the last: of no fill
    for (const Bar& bar : bars_of(lane.row)) {
      const std::size_t fill = cells_.rows[lane.row][bar.first].max;
      paths[std::min(fill, paths.size() - 1)] += path_of_bar(lane.row, bar);
    }
    for (std::uint32_t fill = 0; fill < paths.size(); ++fill) {
      if (paths[fill].empty()) continue;
      const std::string name = fill < cells_.fills.size() ? ", " + cells_.fills[fill].label : "";
      figure_.filled_path(paths[fill], colour_of_fill(fill), lane.label + name);
    }
  }

  void add_waits(const TimelineLane& lane) {
    constexpr double height = 3, from_top = (bar_height - height) / 2;
    const auto& cells = cells_.rows[lane.row];
    const auto waits = [&](std::size_t column) {
      return cells[column].waiting > cells[column].busy;
    };
    std::string path;
    for (std::size_t first = 0; first < cells.size(); ++first) {
      if (!waits(first)) continue;
      std::size_t next = first + 1;
      while (next < cells.size() && waits(next)) ++next;
      path += svg_path("M{0} {1}H{2}v{3}H{0}z", x_of_column(first), figure_.y() + from_top,
                       x_of_column(next), height);
      first = next;
    }
    if (path.empty()) return;
    const TimelineRow& row = rows_.rows[lane.row];
    figure_.filled_path(path, wait_colour,
                        fmt::format("{}: waits {} of the wall", lane.label,
                                    percent_text(double(row.waiting), double(rows_.wall))));
  }

  // Of the lanes above y().
  void add_bracket(const LaneGroup& group) {
    constexpr double hook = 4, baseline = 4;
    if (!has_brackets(lanes_) || group.label.empty()) return;
    double widest = 0;
    for (const LaneGroup& each : lanes_.groups) {
      for (const TimelineLane& lane : each.lanes) widest = std::max(widest, text_width(lane.label));
    }
    const double x = left_ - label_gap - std::min(widest, view_.width / 5) - bracket_room / 2;
    const double top = figure_.y() - double(group.lanes.size()) * lane_pitch;
    const double bottom = figure_.y() - (lane_pitch - bar_height);
    figure_.line(fmt::format("M{} {}h-{}V{}h{}", svg_number(x + hook), svg_number(top), hook,
                             svg_number(bottom), hook),
                 quiet_colour);
    figure_.text(x - bracket_room / 2, (top + bottom) / 2 + baseline, Anchor::end,
                 fitting_text(group.label, view_.width / 5), {.bold = true});
  }

  void add_axis(const TimelineAxis& axis) {
    constexpr double tick = 5, line = 15;
    std::string path = svg_path("M{} {}h{}", left_, figure_.y(), width_);
    for (const TimelineMark& mark : axis.marks) {
      path +=
          fmt::format("M{} {}v{}", svg_number(x_of_time(mark.time)), svg_number(figure_.y()), tick);
    }
    figure_.line(path, quiet_colour);
    figure_.skip(tick + line - 3);
    for (const TimelineMark& mark : axis.marks) {
      figure_.text(x_of_time(mark.time), figure_.y(), Anchor::middle, mark.text,
                   {.colour = quiet_colour});
    }
    figure_.text(view_.width - figure_margin, figure_.y(), Anchor::end,
                 fmt::format("{}", name_of_busy(rows_.by)), {.colour = quiet_colour});
    figure_.skip(line);
    figure_.text(left_ + width_ / 2, figure_.y(), Anchor::middle,
                 fmt::format("time ({})", axis.unit), {.colour = quiet_colour});
  }

  std::vector<LegendEntry> legend() const {
    std::vector<LegendEntry> entries;
    for (std::uint32_t fill = 0; fill < cells_.fills.size(); ++fill) {
      const bool others = cells_.fills_together > 0 && fill + 1 == cells_.fills.size();
      entries.push_back(
          {colour_of_fill(fill), others ? fmt::format("{} others", thousands(cells_.fills_together))
                                        : cells_.fills[fill].label});
    }
    if (cells_.fills.empty()) entries.push_back({shade(0, 1), "work"});
    if (rows_.waits.sum > 0) entries.push_back({wait_colour, "waiting", true});
    return entries;
  }

  const Profile& profile_;
  const TimelineRows& rows_;
  const TimelineCells& cells_;
  const SvgView& view_;
  TimelineLanes lanes_;
  Figure figure_;
  double width_, left_;
  bool has_tooltips_;
};

}  // namespace

std::size_t svg_columns(const Profile& profile, const TimelineRows& rows, const SvgView& view) {
  const double width = plot_width(lanes_of(profile, rows), view.width);
  const auto columns = std::size_t(std::max(1.0, width / finest));
  return std::max<std::size_t>(
      100, std::min(columns, max_cells / std::max<std::size_t>(1, rows.rows.size())));
}

std::string timeline_svg(const Profile& profile, const TimelineRows& rows,
                         const TimelineCells& cells, const SvgView& view) {
  return TimelinePicture(profile, rows, cells, view).draw();
}

}  // namespace npuscope::report
