#include <fmt/format.h>

#include <algorithm>

#include "analysis/units/unit_numbers.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/numbers.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/text_table.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// "utilization percent" fits as "utilization %", and a unit is in the numbers or the heading.
std::string column_heading(const Profile& profile, const UnitNumberColumn& column) {
  constexpr std::size_t max_columns = 30;
  std::string name = printable(column.name);
  for (const auto& [words, sign] : {std::pair{" percent", " %"}, {" (Hz)", ""}}) {
    const std::size_t place = name.find(words);
    if (place != std::string::npos) name.replace(place, std::string_view(words).size(), sign);
  }
  const bool is_time = column.kind != MeasureKind::count && !shows_time(profile, column.clock);
  if (is_time) name += ", " + unit_of(profile, column.clock);
  return shortened(name, max_columns);
}

// What a number is in text: its value in the unit that its clock or its meaning gives it.
std::string text_of(const Profile& profile, const NumberRow& row, double value) {
  if (row.meaning.quantity == NumberQuantity::bytes) return bytes_text(value);
  if (row.kind == MeasureKind::count) return number_text(value);
  const std::string text = ticks_text(profile, row.clock, value);
  return shows_time(profile, row.clock) ? text : text + " " + unit_of(profile, row.clock);
}

std::string text_of(const Profile& profile, const UnitNumberColumn& column, double value) {
  switch (column.meaning.quantity) {
    case NumberQuantity::time: return ticks_text(profile, column.clock, value);
    case NumberQuantity::bytes: return bytes_text(value);
    case NumberQuantity::hertz: return hertz_text(value);
    default: break;
  }
  return number_text(value);
}

Value clock_of(const Profile& profile, MeasureKind kind, ClockId clock) {
  if (kind == MeasureKind::count || index_of(clock) >= profile.clocks.size()) return {};
  return Value(profile.text(profile.clocks[index_of(clock)].name));
}

// In JSON numbers, in text the same with their units.
void add_field(Table& table, const std::string& key, const std::string& label, bool needed = true) {
  table.fields.push_back({key});
  Field text{"", label, Format::name, needed, true};
  text.stands_right = true;
  table.fields.push_back(std::move(text));
}

template <class Text>
void add_value(std::vector<Value>& row, bool known, double value, const Text& text) {
  row.push_back(known ? Value(value) : Value());
  row.push_back(known ? Value(text(value)) : Value());
}

void add_row(const Profile& profile, const NumberRow& row, Section& section, bool of_run) {
  const auto text = [&](double value) { return text_of(profile, row, value); };
  const Spread& values = row.values;
  const bool many = values.count > 1;
  std::vector<Value> cells{profile.text(row.what), stable_name(row.subject), values.count};
  if (of_run) {
    add_value(cells, true, values.first, text);
    add_value(cells, many, values.median_of_rest, text);
  } else {
    cells.push_back(
        fmt::format("{} {}{}", values.count, stable_name(row.subject), many ? "s" : ""));
    add_value(cells, true, values.min, text);
    add_value(cells, true, values.median, text);
  }
  add_value(cells, many || !of_run, values.max, text);
  for (const Value& each : {Value(stable_name(row.kind)), clock_of(profile, row.kind, row.clock),
                            Value(stable_name(row.origin))}) {
    cells.push_back(each);
  }
  section.table.rows.push_back(std::move(cells));
}

Section numbers_section(const Analysis& analysis, std::size_t top, bool of_run) {
  Section section{.key = of_run ? "numbers_of_run" : "numbers_of_parts",
                  .title = of_run ? "NUMBERS OF THE RUN" : "NUMBERS OF UNITS, SPANS AND PHASES"};
  std::vector<const NumberRow*> rows;
  bool several = false;
  for (const NumberRow& row : analysis.numbers()) {
    if ((row.subject == Measure::Subject::profile) != of_run) continue;
    rows.push_back(&row);
    several = several || row.values.count > 1;
  }
  if (rows.empty()) return {};
  Table& table = section.table;
  table.fields = {{"name", "number"},
                  {"subject"},
                  {"count", of_run && several ? "values" : "", Format::count, false}};
  if (of_run) {
    add_field(table, "first", several ? "first" : "value");
    add_field(table, "median_of_rest", "median of rest");
  } else {
    table.fields.push_back({"", "of", Format::name, false});
    add_field(table, "min", "min");
    add_field(table, "median", "median");
  }
  add_field(table, "max", "max", !of_run);
  for (Field field :
       {Field{"kind"}, Field{"clock"}, Field{"origin", "origin", Format::name, false}}) {
    table.fields.push_back(std::move(field));
  }
  table.row_count = rows.size();
  if (rows.size() > top) rows.resize(top);
  for (const NumberRow* row : rows) add_row(analysis.profile(), *row, section, of_run);
  return section;
}

}  // namespace

Section run_numbers_section(const Analysis& analysis, std::size_t top) {
  return numbers_section(analysis, top, true);
}

Section part_numbers_section(const Analysis& analysis, std::size_t top) {
  return numbers_section(analysis, top, false);
}

// What the file says of the units itself, where it has no timeline of their work: in text a row for
// each unit, in JSON one for each of its numbers.
Section unit_numbers_section(const Analysis& analysis, std::size_t top) {
  const Profile& profile = analysis.profile();
  const UnitNumbers& numbers = analysis.unit_numbers();
  if (!analysis.units().units.empty() || numbers.row_count() == 0) return {};
  Section section{.key = "unit_numbers", .title = "UNITS, as the file has them"};
  section.table.fields = {{"unit", "unit"}};
  for (const UnitNumberColumn& column : numbers.columns) {
    Field field{"", column_heading(profile, column), Format::name, section.table.fields.size() < 3,
                true};
    field.stands_right = true;
    section.table.fields.push_back(std::move(field));
  }
  section.table.row_count = numbers.row_count();
  Section each{.key = "values"};
  each.table.fields = {{"unit"}, {"number"}, {"value"}, {"kind"}, {"clock"}, {"origin"}};
  for (std::size_t i = 0; i < numbers.row_count(); ++i) {
    const std::string unit = path_of(profile, numbers.row(i).front().unit);
    std::vector<Value> cells(numbers.columns.size() + 1);
    cells[0] = unit;
    for (const UnitNumber& number : numbers.row(i)) {
      const UnitNumberColumn& column = numbers.columns[number.column];
      cells[number.column + 1] = text_of(profile, column, number.value);
      each.table.rows.push_back({unit, column.name, number.value, stable_name(column.kind),
                                 clock_of(profile, column.kind, column.clock),
                                 stable_name(column.origin)});
    }
    if (i < top) section.table.rows.push_back(std::move(cells));
  }
  std::string origins;
  for (const Origin origin :
       {Origin::measured, Origin::counter, Origin::estimated, Origin::simulated, Origin::derived}) {
    std::string names;
    for (const UnitNumberColumn& column : numbers.columns) {
      if (column.origin == origin) names += (names.empty() ? "" : ", ") + column.name;
    }
    if (names.empty()) continue;
    origins += fmt::format("{}{}: {}", origins.empty() ? "" : "; ", stable_name(origin), names);
  }
  section.remarks = {origins + "."};
  section.parts.push_back(std::move(each));
  return section;
}

Section counters_section(const Profile& profile, std::size_t top) {
  const auto counters = analyse_counters(profile);
  if (counters.empty()) return {};
  Section section{.key = "counters", .title = "COUNTERS"};
  section.table.fields = {{"name"},
                          {"", "counter"},
                          {"part"},
                          {"quantity"},
                          {"unit", "of", Format::name, false, true},
                          {"samples", "samples", Format::count, false}};
  for (const char* key : {"min", "mean", "max", "last"}) {
    add_field(section.table, key, std::string(key) == "last" ? "" : key);
  }
  section.table.row_count = counters.size();
  for (const CounterRow& row : counters) {
    if (section.table.rows.size() == top) break;
    const CounterSeries& series = profile.counters.series[row.series];
    const bool bytes = profile.text(series.quantity) == "bytes";
    const auto text = [&](double value) { return bytes ? bytes_text(value) : number_text(value); };
    const std::string part(profile.text(series.part));
    const std::string name(profile.text(series.name));
    std::vector<Value> cells{
        name,
        name + (part.empty() ? "" : ": " + part),
        part,
        profile.text(series.quantity),
        series.unit == UnitId::none ? Value() : Value(path_of(profile, series.unit)),
        row.samples};
    for (const double value : {row.min, row.mean, row.max, row.last}) {
      add_value(cells, true, value, text);
    }
    section.table.rows.push_back(std::move(cells));
  }
  return section;
}

}  // namespace npuscope::report
