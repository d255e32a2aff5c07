// What a table's numbers come to: of one inference where they are of many, added up, and tried
// against the totals that the file states.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/tables/cell_numbers.hpp"
#include "formats/tables/table_profile.hpp"

namespace npuscope::tables {

// Numbers of all inferences become those of one.
void TableProfile::divide_by_runs() {
  double runs = runs_.value_or(0);
  if (description_.calls_are_of_runs) {
    if (!(runs > 0)) runs = least_calls_;
    if (runs > 0) {
      for (const std::size_t measure : per_run_) profile_.measures[measure].value /= runs;
      for (auto& sum : sums_) sum.second /= runs;
    }
  }
  const bool ends_in_total = std::ranges::any_of(description_.lines, [](const TableLine& line) {
    return line.is == TableLine::Is::total_of_runs;
  });
  if (ends_in_total && totals_.empty() && !sums_.empty()) {
    losses_.add(Severity::warning, 0, "no total stands below the rows: the file may be cut short");
  }
  if (runs > 0 && runs < 4e9) profile_.provenance.inferences = std::uint32_t(runs);
  for (const auto& [line, value] : totals_) {
    if (sums_.empty() || profile_.ops.empty()) continue;
    const bool is_of_runs = line->is == TableLine::Is::total_of_runs && runs > 0;
    const double scale = ticks_in(line->unit), of_one = is_of_runs ? value / runs : value;
    const auto& [column, sum] = *sums_.begin();
    check(fmt::format("sum of '{}' = the total of the file", description_.columns[column].head),
          sum * ticks_in(description_.columns[column].unit) / scale, of_one,
          line->tolerance * double(profile_.ops.size()));
  }
}

// Pages rank ops by the first number, which the first row may lack.
void TableProfile::rank_by_time() {
  auto& measures = profile_.measures;
  const auto first = std::ranges::find(measures, Measure::Subject::op, &Measure::subject);
  const auto time = std::find_if(first, measures.end(), [](const Measure& measure) {
    return measure.meaning.role == NumberRole::node_cycles;
  });
  if (time != measures.end()) std::rotate(first, time, time + 1);
}

void TableProfile::add_sum() {
  for (const auto& [place, sum] : sums_) {
    if (has_gaps_[place]) continue;  // more than the rest
    const TableUnit unit = description_.columns[place].unit;
    profile_.add_measure(Measure::Subject::profile, 0,
                         NamedNumber{"sum of the ops", MeasureKind::wall, NumberRole::graph_wall},
                         Origin::derived, clock_of(unit), sum * ticks_in(unit));
  }
}

void TableProfile::check(const std::string& name, double sum, double total, double allowed) {
  const bool holds = std::abs(total - sum) <= allowed + 1e-9 * std::abs(sum);
  profile_.checks.push_back({name, holds ? Check::Outcome::passed : Check::Outcome::failed,
                             fmt::format("{:.10g} and {:.10g}", sum, total)});
}

void TableProfile::check_total(const TableRow& row, const Fields& fields) {
  for (const auto& [place, sum] : sums_) {
    if (const auto total = number_in(field(place, fields))) {
      check(fmt::format("sum of '{}' = the total of the file", description_.columns[place].head),
            sum, *total, row.tolerance * double(profile_.ops.size()));
    }
  }
}

}  // namespace npuscope::tables
