#include "report/timeline/timeline_drawing.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "report/document/document_value.hpp"
#include "report/document/text_table.hpp"
#include "report/picture/axes.hpp"

namespace npuscope::report {
namespace {

// Takes off the paths the steps that all of them begin with, but never the last step of one, and
// gives these steps.
std::string cut_common_steps(std::vector<std::string>& paths) {
  const std::string_view separator = unit_path_separator;
  std::string common;
  while (!paths.empty()) {
    const std::size_t end = paths.front().find(separator);
    if (end == std::string::npos) break;
    const std::string step = paths.front().substr(0, end + separator.size());
    const bool all_have = std::ranges::all_of(paths, [&](const std::string& path) {
      return path.size() > step.size() && path.starts_with(step);
    });
    if (!all_have) break;
    common += (common.empty() ? "" : std::string(separator)) + step.substr(0, end);
    for (std::string& path : paths) path.erase(0, step.size());
  }
  return common;
}

// The steps that the names of all groups begin with.
std::string cut_common_steps(std::vector<LaneGroup>& groups) {
  std::vector<std::string> labels;
  for (const LaneGroup& group : groups) labels.push_back(group.label);
  std::string common = cut_common_steps(labels);
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].label = std::move(labels[i]);
  return common;
}

}  // namespace

std::size_t TimelineLanes::lane_count() const {
  std::size_t count = 0;
  for (const LaneGroup& group : groups) count += group.lanes.size();
  return count;
}

RowLabels row_labels(const analysis::TimelineRows& rows) {
  RowLabels labels;
  for (const auto& row : rows.rows) labels.rows.push_back(printable(row.label));
  if (rows.by == analysis::RowsBy::unit && labels.rows.size() > 1) {
    labels.common = cut_common_steps(labels.rows);
  }
  return labels;
}

TimelineLanes lanes_of(const Profile& profile, const analysis::TimelineRows& rows) {
  TimelineLanes made;
  std::map<std::string, std::size_t> group_of_label;
  for (std::size_t row = 0; row < rows.rows.size(); ++row) {
    UnitPath path{"", rows.rows[row].label};
    const std::uint32_t group = rows.rows[row].group;
    if (rows.by == analysis::RowsBy::unit && group < profile.units.size()) {
      path = unit_path(profile, UnitId(group));
    }
    const std::string label = printable(path.within);
    const auto [place, is_new] = group_of_label.try_emplace(label, made.groups.size());
    if (is_new) made.groups.push_back({label, {}});
    made.groups[place->second].lanes.push_back({printable(path.name), row});
  }
  if (made.groups.size() == 1) {
    std::swap(made.common, made.groups.front().label);
  } else if (!made.groups.empty()) {
    made.common = cut_common_steps(made.groups);
  }
  return made;
}

namespace {

using analysis::TimelineCell;
using analysis::TimelineCells;
using analysis::TimelineRows;

constexpr std::size_t narrowest_label = 4;
constexpr std::size_t share_width = 8;  // " 100.0 %"
constexpr std::size_t max_gap_marks = 9;

std::size_t label_width_of(const std::vector<std::string>& labels, std::size_t width) {
  std::size_t widest = narrowest_label;
  for (const std::string& label : labels) widest = std::max(widest, columns_of(label));
  return std::min(widest, std::max<std::size_t>(12, width / 4));
}

// Indent, label, " |", the columns, "|", the share.
std::size_t drawing_width(std::size_t width, std::size_t label) {
  const std::size_t taken = 2 + label + 2 + 1 + share_width;
  return width > taken + 10 ? width - taken : 10;
}

class TimelineDrawing {
 public:
  TimelineDrawing(const Profile& profile, const TimelineRows& rows, const TimelineCells& cells,
                  const TimelineView& view)
      : profile_(profile),
        rows_(rows),
        cells_(cells),
        view_(view),
        labels_(row_labels(rows).rows),
        label_width_(label_width_of(labels_, view.width)),
        width_(drawing_width(view.width, label_width_)) {}

  std::vector<std::string> draw();

 private:
  // The column of time that a character shows; there may be more characters than columns.
  std::size_t column_at(std::size_t character) const {
    return character * cells_.columns.count() / width_;
  }
  // The first character of a column; of the one after the last, the end.
  std::size_t character_of(std::size_t column) const {
    const std::size_t count = std::max<std::size_t>(1, cells_.columns.count());
    return (column * width_ + count - 1) / count;
  }
  std::string character(const TimelineCell& cell, std::int64_t length) const;
  void draw_axis();
  void draw_row(std::size_t row);
  void draw_gaps();
  void line(const std::string& label, const std::string& characters, const std::string& share);

  const Profile& profile_;
  const TimelineRows& rows_;
  const TimelineCells& cells_;
  const TimelineView& view_;
  std::vector<std::string> labels_;
  std::size_t label_width_, width_;
  std::vector<std::string> lines_;
};

std::string TimelineDrawing::character(const TimelineCell& cell, std::int64_t length) const {
  if (cell.busy == 0 && cell.waiting == 0) return " ";
  if (cell.waiting > cell.busy) return "-";
  // How full, in eighths, at least that.
  const double share = double(cell.busy) / double(std::max<std::int64_t>(1, length));
  if (view_.fill && cell.max < cells_.fills.size()) {
    const char letter = letter_of(cells_, cell.max);
    return std::string(1, share >= 0.5 || letter < 'A' ? letter : char(letter - 'A' + 'a'));
  }
  if (view_.blocks) return share >= 7.0 / 8 ? "█" : share >= 0.5 ? "▓" : share >= 0.25 ? "▒" : "░";
  return share >= 7.0 / 8 ? "#" : share >= 0.5 ? "+" : ".";
}

void TimelineDrawing::line(const std::string& label, const std::string& characters,
                           const std::string& share) {
  const bool is_long = columns_of(label) > label_width_;  // a line of its own
  if (is_long) lines_.push_back("  " + label);
  const std::string name = is_long ? std::string() : label;
  lines_.push_back(fmt::format("  {}{} |{}|{:>{}}", name,
                               std::string(label_width_ - columns_of(name), ' '), characters, share,
                               share_width));
  std::string& last = lines_.back();
  last.erase(last.find_last_not_of(' ') + 1);
}

void TimelineDrawing::draw_axis() {
  constexpr std::size_t room_per_mark = 14;
  const TimelineAxis axis = make_axis(profile_, rows_.window, view_.origin,
                                      std::max<std::size_t>(2, width_ / room_per_mark));
  const std::size_t indent = 2 + label_width_ + 2;
  std::string texts(indent + width_, ' '), ticks = texts;
  std::size_t free_from = 0;
  for (const TimelineMark& mark : axis.marks) {
    const std::size_t at =
        indent + std::min(width_ - 1, character_of(cells_.columns.column_of(mark.time)));
    ticks[at] = '|';
    if (mark.text.size() > texts.size()) continue;
    const std::size_t first = std::min(at, texts.size() - mark.text.size());
    if (first < free_from) continue;
    texts.replace(first, mark.text.size(), mark.text);
    free_from = first + mark.text.size() + 1;
  }
  lines_.push_back(fmt::format("{} {:>{}}", texts, name_of_busy(rows_.by), share_width));
  ticks.erase(ticks.find_last_not_of(' ') + 1);
  lines_.push_back(ticks);
}

void TimelineDrawing::draw_row(std::size_t row) {
  std::string characters;
  const auto& cells = cells_.rows[row];
  for (std::size_t i = 0; i < width_ && !cells.empty(); ++i) {
    const std::size_t column = column_at(i);
    characters += character(cells[column], cells_.columns.length_of(column));
  }
  line(labels_[row], characters, percent_text(double(rows_.rows[row].busy), double(rows_.wall)));
}

void TimelineDrawing::draw_gaps() {
  if (rows_.gaps.empty() || cells_.columns.count() == 0) return;
  std::string characters(width_, ' ');
  for (std::size_t i = std::min(rows_.gaps.size(), max_gap_marks); i-- > 0;) {
    const Interval gap = rows_.gaps[i].interval;
    const std::size_t first = character_of(cells_.columns.column_of(gap.begin));
    const std::size_t end = character_of(cells_.columns.column_of(gap.end - 1) + 1);
    for (std::size_t at = first; at < end; ++at) characters[at] = char('1' + i);
  }
  line("gaps", characters, percent_text(double(rows_.idle), double(rows_.wall)));
}

std::vector<std::string> TimelineDrawing::draw() {
  draw_axis();
  for (std::size_t row = 0; row < rows_.rows.size(); ++row) draw_row(row);
  draw_gaps();
  return std::move(lines_);
}

}  // namespace

std::vector<std::string> draw_timeline(const Profile& profile, const TimelineRows& rows,
                                       const TimelineCells& cells, const TimelineView& view) {
  return TimelineDrawing(profile, rows, cells, view).draw();
}

std::string legend_of(const TimelineView& view, bool has_waits) {
  std::string legend;
  if (view.fill) {
    legend = "A letter names what ran most of a column, small where that was less than half of it";
  } else if (view.blocks) {
    legend = "█ at work 7/8 of a column or more, ▓ half, ▒ a quarter, ░ less";
  } else {
    legend = "# at work 7/8 of a column or more, + half, . less";
  }
  if (has_waits) legend += "; - mostly waits";
  return legend;
}

char letter_of(const TimelineCells& cells, std::size_t fill) {
  const bool others = cells.fills_together > 0 && fill + 1 == cells.fills.size();
  return others || fill >= 26 ? '*' : char('A' + fill);
}

std::size_t timeline_columns(const TimelineRows& rows, const TimelineView& view) {
  return drawing_width(view.width, label_width_of(row_labels(rows).rows, view.width));
}

}  // namespace npuscope::report
