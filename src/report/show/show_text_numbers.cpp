#include "report/show/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/document/names.hpp"

namespace npuscope::report {

using namespace analysis;

std::string PageText::number_of(const NumberRow& row, double value) const {
  if (row.kind != MeasureKind::count) {
    const std::string text = ticks_text(profile_, row.clock, value);
    return shows_time(profile_, row.clock) ? text : text + " " + unit_of(profile_, row.clock);
  }
  return number_text(value);
}

// Numbers of the run: over the inferences, of which the first is cold.
void PageText::print_numbers() {
  std::vector<const NumberRow*> rows;
  for (const NumberRow& row : page_.numbers) {
    if (row.subject == Measure::Subject::profile) rows.push_back(&row);
  }
  if (rows.empty()) return;
  const std::size_t kept = std::min(page_.top, rows.size());
  heading(fmt::format("NUMBERS OF THE RUN ({})", more(kept, rows.size())));
  const bool several = std::any_of(rows.begin(), rows.end(),
                                   [](const NumberRow* row) { return row->values.count > 1; });
  TextTable table_rows({{"number", Align::left},
                        {several ? "values" : "", Align::right, false},
                        {several ? "first" : "value"},
                        {several ? "median of rest" : ""},
                        {several ? "most" : "", Align::right, false},
                        {"origin", Align::left, false}});
  for (std::size_t i = 0; i < kept; ++i) {
    const NumberRow& row = *rows[i];
    const bool many = row.values.count > 1;
    table_rows.add({std::string(profile_.text(row.what)),
                    several ? thousands(row.values.count) : "", number_of(row, row.values.first),
                    many ? number_of(row, row.values.median_of_rest) : "",
                    many ? number_of(row, row.values.max) : "", stable_name(row.origin)});
  }
  table(table_rows);
}

void PageText::print_numbers_of_parts() {
  std::vector<const NumberRow*> rows;
  for (const NumberRow& row : page_.numbers) {
    if (row.subject != Measure::Subject::profile) rows.push_back(&row);
  }
  if (rows.empty()) return;
  const std::size_t kept = std::min(page_.top, rows.size());
  heading(fmt::format("NUMBERS OF UNITS, SPANS AND PHASES ({})", more(kept, rows.size())));
  TextTable table_rows({{"number", Align::left},
                        {"of", Align::left, false},
                        {"least"},
                        {"median"},
                        {"most"},
                        {"origin", Align::left, false}});
  for (std::size_t i = 0; i < kept; ++i) {
    const NumberRow& row = *rows[i];
    const char* one = row.subject == Measure::Subject::unit   ? "unit"
                      : row.subject == Measure::Subject::span ? "span"
                                                              : "phase";
    table_rows.add({std::string(profile_.text(row.what)),
                    counted(row.values.count, one, (one + std::string("s")).c_str()),
                    number_of(row, row.values.min), number_of(row, row.values.median),
                    number_of(row, row.values.max), stable_name(row.origin)});
  }
  table(table_rows);
}

void PageText::print_counters() {
  if (page_.counters.empty()) return;
  const std::size_t kept = std::min(page_.top, page_.counters.size());
  heading(fmt::format("COUNTERS ({})", more(kept, page_.counters.size())));
  TextTable rows({{"counter", Align::left},
                  {"of", Align::left, false},
                  {"samples", Align::right, false},
                  {"least"},
                  {"mean"},
                  {"most"}});
  for (std::size_t i = 0; i < kept; ++i) {
    const CounterRow& row = page_.counters[i];
    const CounterSeries& series = profile_.counters.series[row.series];
    std::string name(profile_.text(series.name));
    if (series.part != StringId::empty) name += fmt::format(": {}", profile_.text(series.part));
    const bool bytes = profile_.text(series.quantity) == "bytes";
    const auto number = [&](double value) {
      return bytes ? bytes_text(value) : number_text(value);
    };
    rows.add({name,
              series.unit == UnitId::none
                  ? ""
                  : shortened(printable(path_of(profile_, series.unit)), 28),
              thousands(row.samples), number(row.min), number(row.mean), number(row.max)});
  }
  table(rows);
}

}  // namespace npuscope::report
