#include "report/timeline/timeline_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/units.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/document/shared_sections.hpp"
#include "report/picture/axes.hpp"
#include "report/timeline/timeline_drawing.hpp"

namespace npuscope::report {
namespace {

using analysis::RowsBy;
using analysis::TimelineCell;
using analysis::TimelineCells;
using analysis::TimelineRow;
using analysis::TimelineRows;

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? double(part) / double(whole) : 0;
}

// The sum over units by the time in which any did it.
Value quotient_of(const analysis::TimelineTotal& times) {
  return times.length > 0 ? Value(double(times.sum) / double(times.length)) : Value();
}

// "none 18.3 %, 1 74.1 %, 2 7.1 %, 3 to 4 0.5 %".
std::string times_text(const std::vector<std::int64_t>& time_at, std::int64_t wall) {
  std::string text;
  for (const LevelsAtOnce& levels : concurrency_histogram(time_at)) {
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", levels.label,
                        percent_text(double(levels.time), double(wall)));
  }
  return text;
}

class Maker {
 public:
  Maker(const Profile& profile, const TimelineRows& rows, const TimelineCells& cells,
        const TimelineView& view)
      : profile_(profile), rows_(rows), cells_(cells), view_(view) {}

  Document make() const {
    Document document{.profile = &profile_};
    document.scope = scope_of_all(profile_);
    document.sections = {drawing(), row_table(), wall(), at_once(), gaps(), cells()};
    if (view_.fill) document.sections.insert(document.sections.begin() + 1, fills());
    return document;
  }

 private:
  Section drawing() const {
    Section section{.key = "timeline", .title = title()};
    section.facts = {{{"by", ""}, name_of(rows_.by)},
                     {{"begin", "", Format::ticks}, after_origin(rows_.window.begin)},
                     {{"end", "", Format::ticks}, after_origin(rows_.window.end)},
                     {{"wall", "", Format::ticks}, rows_.wall},
                     {{"origin", "", Format::ticks}, view_.origin},
                     {{"columns", "", Format::count}, cells_.columns.count()},
                     {{"parallelism", "", Format::number}, quotient_of(rows_.busy)},
                     {{"parallelism_with_waits", "", Format::number}, quotient_of(rows_.occupied)},
                     {{"spans_not_drawn", "", Format::count}, rows_.not_drawn},
                     {{"inferences", "", Format::count}, rows_.inferences.count}};
    if (const auto& walls = rows_.inferences; walls.count > 0) {
      section.facts.push_back({{"first_inference_wall", "", Format::ticks}, walls.first});
      section.facts.push_back(
          {{"median_wall_of_other_inferences", "", Format::ticks}, walls.median_of_rest});
    }
    section.drawing = draw_timeline(profile_, rows_, cells_, view_);
    section.remarks = remarks();
    return section;
  }

  Section fills() const {
    Section section{.key = "letters", .title = fmt::format("LETTERS by {}", name_of(*view_.fill))};
    section.table.fields = {{"letter", "letter"},
                            {"name", "name"},
                            {"work", "work", Format::ticks},
                            {"share_of_shown_work", "of work shown", Format::share}};
    std::int64_t all = 0;
    for (const auto& fill : cells_.fills) all = saturating_add(all, fill.work);
    for (std::size_t i = 0; i < cells_.fills.size(); ++i) {
      const auto& fill = cells_.fills[i];
      const char letter = letter_of(cells_, i);
      const std::string name = letter == '*' && cells_.fills_together > 0
                                   ? fmt::format("{} others", thousands(cells_.fills_together))
                                   : fill.label;
      section.table.rows.push_back(
          {std::string(1, letter), name, fill.work, share(fill.work, all)});
    }
    return section;
  }

  Section row_table() const {
    Section section{.key = "rows", .title = fmt::format("ROWS by {}", name_of(rows_.by))};
    const std::string busy = name_of_busy(rows_.by), rest = view_.of_ops ? "rest" : "idle";
    section.table.fields = {{"row", name_of(rows_.by)},
                            {"spans", "spans", Format::count, false},
                            {"work", "work", Format::ticks},
                            {busy, busy, Format::ticks},
                            {busy + "_share_of_wall", "of wall", Format::share},
                            {"waiting", "waiting", Format::ticks},
                            {rest, rest, Format::ticks},
                            {"span", "span", Format::ticks},
                            {"longest_" + rest, "longest " + rest, Format::ticks, false}};
    for (const TimelineRow& row : rows_.rows) {
      section.table.rows.push_back({row.label, row.spans, row.work, row.busy,
                                    share(row.busy, rows_.wall), row.waiting, row.idle, row.span,
                                    row.longest_idle});
    }
    section.table.row_count = rows_.row_count;
    return section;
  }

  Section wall() const {
    Section section{.key = "wall", .title = "WALL"};
    section.table.fields = {{"what", "what"},
                            {"active", "active", Format::ticks},
                            {"active_share_of_wall", "of wall", Format::share},
                            {"work", "sum over units", Format::ticks},
                            {"work_per_active", "sum / active", Format::number}};
    const auto add = [&](const char* what, std::int64_t active, Value sum) {
      Value ratio;
      const auto* whole = std::get_if<std::int64_t>(&sum.held());
      if (whole != nullptr && active > 0) ratio = double(*whole) / double(active);
      section.table.rows.push_back({what, active, share(active, rows_.wall), sum, ratio});
    };
    add("work", rows_.busy.length, rows_.busy.sum);
    if (rows_.waits.sum > 0) {
      add("waits where nothing works", rows_.waits.length, Value());
      add("work or waits", rows_.occupied.length, rows_.occupied.sum);
    }
    add(view_.of_part ? "nothing of the selection" : "idle", rows_.idle, Value());
    if (rows_.compute > 0 && rows_.movement > 0) {
      add("compute", rows_.compute, Value());
      add("data movement", rows_.movement, Value());
      add("compute and data movement at once", rows_.compute_and_movement, Value());
    }
    return section;
  }

  Section at_once() const {
    const auto& time_at = rows_.concurrency.time_at;
    Section section{.key = "at_once"};
    section.facts = {{{"mean_units_while_any_works", "", Format::number}, rows_.mean_concurrency},
                     {{"most_units", "", Format::count}, rows_.concurrency.max()}};
    section.table.fields = {{"units_at_work", "", Format::count},
                            {"time", "", Format::ticks},
                            {"share_of_wall", "", Format::share}};
    for (std::size_t k = 0; k < time_at.size(); ++k) {
      if (time_at[k] > 0) {
        section.table.rows.push_back({k, time_at[k], share(time_at[k], rows_.wall)});
      }
    }
    section.drawing.push_back(fmt::format("  concurrency while active: average {}, max {}",
                                          number_text(rows_.mean_concurrency),
                                          thousands(rows_.concurrency.max())));
    section.drawing.push_back(fmt::format("  of the wall: {}", times_text(time_at, rows_.wall)));
    if (const auto& walls = rows_.inferences; walls.count > 1) {
      const auto print = [&](double value) {
        return ticks_text(profile_, profile_.base_clock, value);
      };
      section.drawing.push_back(
          fmt::format("  {} inferences: wall of the first {}, median of the rest {}, all {} to {}",
                      thousands(walls.count), print(walls.first), print(walls.median_of_rest),
                      print(walls.min), print(walls.max)));
    }
    return section;
  }

  Section gaps() const {
    Section section{.key = "gaps"};
    section.table.fields = {{"number", "gap", Format::count},
                            {"begin", "begin", Format::ticks},
                            {"length", "length", Format::ticks},
                            {"share_of_wall", "of wall", Format::share},
                            {"before", "after op"},
                            {"before_kind", "of kind", Format::name, false, true},
                            {"before_unit", ""},
                            {"after", "before op"},
                            {"after_kind", "of kind", Format::name, false, true},
                            {"after_unit", ""}};
    for (std::size_t i = 0; i < rows_.gaps.size(); ++i) {
      const auto& gap = rows_.gaps[i];
      std::vector<Value> row{i + 1, after_origin(gap.interval.begin), length_of(gap.interval),
                             share(length_of(gap.interval), rows_.wall)};
      add_span(gap.before, row);
      add_span(gap.after, row);
      section.table.rows.push_back(std::move(row));
    }
    section.table.row_count = rows_.gap_count;
    if (rows_.gaps.empty()) return section;
    section.title =
        view_.of_part ? "GAPS in what is selected, the longest first" : "GAPS, the longest first";
    return section;
  }

  Section cells() const {
    Section section{.key = "cells"};
    section.table.fields = {{"row", ""},
                            {"column", "", Format::count},
                            {"begin", "", Format::ticks},
                            {"length", "", Format::ticks},
                            {name_of_busy(rows_.by), "", Format::ticks},
                            {"waiting", "", Format::ticks}};
    if (view_.fill) section.table.fields.push_back({"most", ""});
    for (std::size_t row = 0; row < cells_.rows.size(); ++row) {
      for (std::size_t column = 0; column < cells_.rows[row].size(); ++column) {
        const TimelineCell& cell = cells_.rows[row][column];
        if (cell.busy == 0 && cell.waiting == 0) continue;
        section.table.rows.push_back({rows_.rows[row].label, column,
                                      after_origin(cells_.columns.begin_of(column)),
                                      cells_.columns.length_of(column), cell.busy, cell.waiting});
        if (!view_.fill) continue;
        Value& max = section.table.rows.back().emplace_back();
        if (cell.max < cells_.fills.size()) max = cells_.fills[cell.max].label;
      }
    }
    return section;
  }

  std::string title() const {
    const ClockId clock = profile_.base_clock;
    std::string text = fmt::format("TIMELINE by {}, {}", name_of(rows_.by),
                                   ticks_text(profile_, clock, double(rows_.wall)));
    if (shows_time(profile_, clock)) return text;
    text += " " + unit_of(profile_, clock);
    if (const auto rate = analysis::clock_rate_during(profile_, rows_.window)) {
      text += fmt::format(" ({}{})", seconds_text(double(rows_.wall) / rate->rate.value),
                          rate->origin == Origin::derived ? ", derived" : "");
    }
    return text;
  }

  std::vector<std::string> remarks() const {
    std::vector<std::string> remarks;
    const std::size_t columns = std::max<std::size_t>(1, cells_.columns.count());
    const TimelineAxis axis = make_axis(profile_, rows_.window, view_.origin, 8);
    const std::string column =
        ticks_text(profile_, profile_.base_clock, double(rows_.wall) / double(columns));
    remarks.push_back(fmt::format("{}. A column is {}; the axis is in {} after the first start.",
                                  legend_of(view_, rows_.waits.sum > 0), column, axis.unit));
    const std::string common = row_labels(rows_).common;
    if (!common.empty()) {
      remarks.push_back(fmt::format("All rows are of {}.", common));
    }
    if (rows_.row_count > rows_.rows.size()) {
      remarks.push_back(
          fmt::format("{} left out, with {} of all work (--top draws more).",
                      counted(rows_.row_count - rows_.rows.size(), "row with less work is",
                              "rows with less work are"),
                      percent_text(double(rows_.work_left_out), double(rows_.busy.sum))));
    }
    if (rows_.not_drawn > 0) {
      remarks.push_back("Not drawn: " +
                        counted(rows_.not_drawn, "asynchronous slice or instant",
                                "asynchronous slices and instants") +
                        ".");
    }
    return remarks;
  }

  // Its operator, what it is of it, and its unit.
  void add_span(std::uint32_t row, std::vector<Value>& values) const {
    if (row == analysis::TimelineGap::none) {
      values.insert(values.end(), {Value(), Value(), Value()});
      return;
    }
    const std::size_t id = index_of(profile_.spans.op[row]);
    const Op* op = id < profile_.ops.size() ? &profile_.ops[id] : nullptr;
    const bool is_wait = analysis::role_of(profile_.spans.kind[row]) == analysis::Role::wait;
    std::string name = "(no op)", kind = is_wait ? "wait" : "";
    if (op != nullptr) {
      const std::string_view node = profile_.text(op->node);
      name = node.empty() ? profile_.text(op->name) : node;
      const std::string_view kernel = profile_.text(op->kind);
      if (!kernel.empty()) kind = is_wait ? fmt::format("wait of {}", kernel) : std::string(kernel);
    }
    values.insert(values.end(),
                  {Value(name), if_any(kind), Value(path_of(profile_, profile_.spans.unit[row]))});
  }

  std::int64_t after_origin(std::int64_t time) const {
    return saturating_subtract(time, view_.origin);
  }

  const Profile& profile_;
  const TimelineRows& rows_;
  const TimelineCells& cells_;
  const TimelineView& view_;
};

}  // namespace

const char* name_of_busy(RowsBy by) { return by == RowsBy::unit ? "busy" : "active"; }

Document make_timeline_document(const Profile& profile, const TimelineRows& rows,
                                const TimelineCells& cells, const TimelineView& view) {
  return Maker(profile, rows, cells, view).make();
}

}  // namespace npuscope::report
