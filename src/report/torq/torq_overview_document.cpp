#include "report/torq/torq_overview_document.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope::report {

Document overview_document(std::span<const torq::Overview> overviews, torq::OverviewStyle style) {
  Document document;
  for (const torq::Overview& overview : overviews) {
    Section section{.key = "models", .title = overview.model};
    section.in_list = true;
    section.facts = {
        {{"model", "model", Format::name}, overview.model},
        {{"coverage", "partial", Format::name},
         overview.coverage.empty() ? Value() : Value(overview.coverage)},
        {{"scope", "scope", Format::name},
         overview.scope.empty() ? Value() : Value(overview.scope)},
        {{"wall_time_text", "WALL_TIME", Format::name}, Value(overview.wall_time)},
        {{"overall_ns", "OVERALL", Format::count}, overview.of(torq::OverviewMetric::overall)}};
    section.table.fields = {{"row", "row", Format::name},
                            {"nanoseconds", "ns", Format::count},
                            {"share_of_overall", "of OVERALL", Format::share},
                            {"meaning", "meaning", Format::name}};
    for (const torq::OverviewRow& row : torq::rows_of(overview, style)) {
      section.table.rows.push_back({row.label, overview.of(row.metric),
                                    torq::percent_of_overall(overview, row.metric) / 100,
                                    torq::meaning_of(row.metric)});
    }
    document.sections.push_back(std::move(section));
  }
  return document;
}

std::string overview_meanings(std::span<const torq::Overview> overviews,
                              torq::OverviewStyle style) {
  std::string text = "\n  OVERALL       " +
                     std::string(torq::meaning_of(torq::OverviewMetric::overall)) +
                     " of programs, host work and HAL calls\n";
  std::vector<std::string> said;
  for (const torq::Overview& overview : overviews) {
    for (const torq::OverviewRow& row : torq::rows_of(overview, style)) {
      if (std::find(said.begin(), said.end(), row.label) != said.end()) continue;
      said.push_back(row.label);
      text += fmt::format("  {:<13} {}\n", row.label, torq::meaning_of(row.metric));
    }
  }
  return text +
         "  A program counts as a whole for each unit that it uses: rows of units are upper "
         "bounds.\n";
}

}  // namespace npuscope::report
