#include "report/document/quantity.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {
namespace {

using namespace analysis;

Value first(const Spread& values, double scale = 1) {
  return values.count > 0 ? Value(values.first * scale) : Value();
}
Value rest(const Spread& values, double scale = 1) {
  return values.count > 1 ? Value(values.median_of_rest * scale) : Value();
}

}  // namespace

// The first inference stands apart: it is the cold one.
Section phases_section(const Analysis& analysis, std::size_t top) {
  const auto& phases = analysis.phases();
  if (phases.empty()) return {};
  const Profile& profile = analysis.profile();
  const bool in_time = shows_time(profile, profile.base_clock);
  bool any_timed = false;
  for (const PhaseRow& row : phases) any_timed = any_timed || row.microseconds.count > 0;
  const bool timed = any_timed && !in_time;
  const std::string unit = in_time ? "" : " " + unit_of(profile, profile.base_clock);
  Section section{.key = "phases", .title = "PHASES"};
  section.table.fields = {
      {"name"},
      {"depth"},
      {"", "phase"},
      {"runs", "runs", Format::count},
      {"first_ticks", "first" + unit, Format::ticks},
      {"first_seconds", timed ? "first time" : "", Format::seconds, true, true},
      {"median_of_rest_ticks", timed ? "" : "median of rest", Format::ticks, false, true},
      {"median_of_rest_seconds", timed ? "median of rest" : "", Format::seconds, false, true},
      {"self_first_ticks", timed ? "" : "self, first", Format::ticks, false, true},
      {"self_first_seconds", timed ? "self, first" : "", Format::seconds, false, true},
      {"self_median_of_rest_ticks", "", Format::ticks},
      {"first_hertz", timed ? "rate" : "", Format::hertz, false, true},
      {"median_of_rest_hertz", "", Format::hertz}};
  section.table.row_count = phases.size();
  for (const PhaseRow& row : phases) {
    if (section.table.rows.size() == top) break;
    const std::string name(profile.text(row.name));
    section.table.rows.push_back(
        {name, row.depth, std::string(2 * std::min<std::size_t>(row.depth, 8), ' ') + name,
         row.ticks.count, first(row.ticks), first(row.microseconds, 1e-6), rest(row.ticks),
         rest(row.microseconds, 1e-6), first(row.self_ticks), first(row.self_microseconds, 1e-6),
         rest(row.self_ticks), first(row.hertz), rest(row.hertz)});
  }
  return section;
}

}  // namespace npuscope::report
