#include "report/ops/op_column_name.hpp"
#include "report/show/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

// What the page shows beside the column that ranks: times of the spans, else what there is.
std::vector<std::size_t> columns_shown(const Profile& profile, const OpTable& ops) {
  constexpr std::size_t max = 5;
  std::vector<std::size_t> shown{ops.ranked_by};
  const auto add = [&](std::size_t place) {
    if (std::find(shown.begin(), shown.end(), place) == shown.end()) shown.push_back(place);
  };
  for (std::size_t i = 0; i < ops.columns.size(); ++i) {
    if (is_beside_timeline(profile, ops.columns[i])) add(i);
  }
  for (const char* name : {"work", "issue", "waiting", "active", "span"}) {
    if (const auto place = ops.place_of(name)) add(*place);
  }
  for (std::size_t i = 0; i < ops.columns.size(); ++i) {
    if (!ops.columns[i].of_base_clock && shown.size() < max) add(i);
  }
  return shown;
}

// "HVX x4" on four units, "HVX+DMA" where it used both.
std::string engines_text(const OpRow& row) {
  std::string text;
  for (const Engine engine : row.engines)
    text += (text.empty() ? "" : "+") + std::string(name_of(engine));
  if (row.engines.size() == 1 && row.units > 1) text += fmt::format(" x{}", row.units);
  return text;
}

bool waits_only(const OpTable& ops, const OpRow& row) {
  const auto waiting = ops.place_of("waiting");
  return row.instances == 0 && waiting && row.values[*waiting].has_value();
}

// Nobody should take a sum over threads for a length of time.
bool sums_over_units(const OpTable& ops) {
  return ops.place_of("work") && std::any_of(ops.rows.begin(), ops.rows.end(),
                                             [](const OpRow& row) { return row.units > 1; });
}

}  // namespace

std::string PageText::value_text(const OpColumn& column, const std::optional<double>& value) const {
  if (!value) return "";
  switch (column.quantity()) {
    case NumberQuantity::time: return ticks_text(profile_, column.clock, *value);
    case NumberQuantity::bytes: return bytes_text(*value);
    case NumberQuantity::hertz: return hertz_text(*value);
    case NumberQuantity::count: break;
  }
  return number_text(*value);
}

void PageText::print_ops(const OpTable& ops, const char* title, const char* one, bool with_kind) {
  if (ops.rows.empty()) return;
  const OpColumn& ranked = ops.columns[ops.ranked_by];
  const auto shown = columns_shown(profile_, ops);
  const bool work_is_sum = sums_over_units(ops);
  const bool in_time = shows_time(profile_, profile_.base_clock);
  heading(fmt::format(
      "{} ({}), by {}{}{}{}{}{}", title, more(ops.rows.size(), ops.row_count),
      printable(ranked.name), work_is_sum && ranked.name == "work" ? " (sum over units)" : "",
      ranked.per_inference ? ", median of the inferences after the first" : "",
      in_time || ranked.kind == MeasureKind::count ? "" : ", in " + unit_of(profile_, ranked.clock),
      ranked.whole && *ranked.whole > ranked.total
          ? fmt::format("; share of the run's {}", value_text(ranked, ranked.whole))
          : "",
      work_is_sum && ranked.name != "work" ? "; work is a sum over units" : ""));
  const bool ran = std::any_of(ops.rows.begin(), ops.rows.end(),
                               [](const OpRow& row) { return row.instances > 0; });
  const bool any_kind = with_kind && std::any_of(ops.rows.begin(), ops.rows.end(), [&](auto& row) {
                          return row.kind != StringId::empty && row.kind != row.label;
                        });
  std::vector<TextColumn> columns{{one, Align::left}};
  if (any_kind) columns.push_back({"kind", Align::left, false});
  if (ran) columns.push_back({"on", Align::left, false});
  columns.push_back({ran ? "runs" : "ops"});
  for (const std::size_t place : shown) {
    const OpColumn& column = ops.columns[place];
    std::string name = op_column_name(profile_, ops, column);
    if (is_beside_timeline(profile_, column)) {
      name += ", " + inferences_text(profile_, column, true);
    }
    columns.push_back({shortened(printable(name), 24), Align::right, place == ops.ranked_by});
    if (place == ops.ranked_by) columns.push_back({"share"});
  }
  TextTable rows(std::move(columns));
  for (const OpRow& row : ops.rows) {
    const std::string label(profile_.text(row.label));
    std::vector<std::string> cells{
        label.empty() ? fmt::format("(no {})", with_kind ? "name" : "kind") : label};
    if (any_kind) {
      cells.push_back(shortened(
          row.kinds > 1 ? counted(row.kinds, "kind", "kinds") : printable(profile_.text(row.kind)),
          28));
    }
    const bool waits = waits_only(ops, row);
    if (ran) cells.push_back(waits ? "waits only" : engines_text(row));
    const bool not_here = ran && row.instances == 0 && !waits;
    cells.push_back(not_here ? "" : thousands(ran ? row.runs : row.ops));
    for (const std::size_t place : shown) {
      cells.push_back(value_text(ops.columns[place], row.values[place]));
      if (place != ops.ranked_by) continue;
      const OpColumn& column = ops.columns[place];
      cells.push_back(
          percent_text(row.values[place].value_or(0), column.whole.value_or(column.total)));
    }
    rows.add(std::move(cells));
  }
  table(rows);
  for (const std::size_t place : shown) {
    const OpColumn& column = ops.columns[place];
    if (is_beside_timeline(profile_, column)) {
      line(column.name, beside_timeline_text(profile_, column));
    }
  }
}

}  // namespace npuscope::report
