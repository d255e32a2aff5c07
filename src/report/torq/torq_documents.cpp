#include "report/torq/torq_documents.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "base/sort_rows.hpp"

namespace npuscope::report {
namespace {

Section comparison_section(TorqComparison comparison, const TorqTimelineOptions& options) {
  std::vector<torq::ProgramComparison>& programs = comparison.programs;
  const auto estimated = [&](const torq::ProgramComparison& each) {
    return double(each.estimated_cycles) / options.mhz;  // us
  };
  double measured_us = 0, estimated_us = 0, cycles = 0;
  for (const torq::ProgramComparison& each : programs) {
    measured_us += each.measured_us;
    estimated_us += estimated(each);
    cycles += double(each.estimated_cycles);
  }
  sort_rows(programs.begin(), programs.end(), [&](const auto& a, const auto& b) {
    return a.measured_us - estimated(a) > b.measured_us - estimated(b);
  });
  Section section{
      .key = "programs",
      .title = fmt::format("PROGRAMS, measured against estimated at {} MHz", options.mhz)};
  section.in_list = true;
  const auto ratio = [](double a, double b) { return b > 0 ? Value(a / b) : Value(); };
  section.facts = {
      {{"coverage", "partial", Format::name},
       comparison.coverage.empty() ? Value() : Value(comparison.coverage)},
      {{"file", "file", Format::name}, comparison.file},
      {{"programs", "programs", Format::count}, programs.size()},
      {{"measured_seconds", "measured, sum", Format::seconds}, measured_us / 1e6},
      {{"estimated_cycles", "estimated cycles, sum", Format::count}, std::int64_t(cycles)},
      {{"estimated_seconds", "estimated, sum", Format::seconds}, estimated_us / 1e6},
      {{"measured_by_estimated", "measured by estimated", Format::number},
       ratio(measured_us, estimated_us)}};
  section.table.fields = {{"program", "program", Format::name},
                          {"location", "location", Format::name},
                          {"operators", "operators", Format::name, false, true},
                          {"kernels", "kernels", Format::name, false, true},
                          {"dispatch", "", Format::name},
                          {"runs", "runs", Format::count},
                          {"measured_seconds", "measured", Format::seconds},
                          {"first_seconds", "first", Format::seconds, false},
                          {"estimated_cycles", "cycles", Format::count},
                          {"estimated_seconds", "estimated", Format::seconds},
                          {"lost_seconds", "above estimate", Format::seconds},
                          {"measured_by_estimated", "ratio", Format::number}};
  section.table.row_count = programs.size();
  for (std::size_t i = 0; i < std::min(options.top, programs.size()); ++i) {
    const torq::ProgramComparison& each = programs[i];
    const double at_clock = estimated(each);
    section.table.rows.push_back(
        {each.program, each.location, each.operators.empty() ? Value() : Value(each.operators),
         each.kernels.empty() ? Value() : Value(each.kernels), each.dispatch, each.runs,
         each.measured_us / 1e6, each.first_us / 1e6, each.estimated_cycles, at_clock / 1e6,
         (each.measured_us - at_clock) / 1e6, ratio(each.measured_us, at_clock)});
  }
  section.remarks = {fmt::format(
      "measured is from the begin of NSS_START to the end of NSS_WAIT, the host's "
      "calls included: the median of all runs but the first, or the only one. estimated is the "
      "compiler's cost model in cycles; its times and the ratios are those at {} MHz (--mhz), a "
      "rate "
      "that no file states. above estimate is measured "
      "less estimated; the worst come first.",
      options.mhz)};
  if (programs.empty()) {
    section.remarks = {
        "no program has both: a time in the log, and an estimate in the debug information, which "
        "torq-compile writes with --torq-enable-profiling"};
  }
  return section;
}

Section estimates_section(const std::vector<TorqEstimate>& estimates, double mhz) {
  Section section{.key = "estimates",
                  .title = fmt::format("ESTIMATES, in cycles and at {} MHz", mhz)};
  section.table.fields = {{"file", "file", Format::name},
                          {"dispatch", "dispatch", Format::name, true, true},
                          {"operations", "operations", Format::count},
                          {"cycles", "cycles", Format::count},
                          {"seconds", "time", Format::seconds}};
  for (const TorqEstimate& each : estimates) {
    section.table.rows.push_back({each.file, each.dispatch.empty() ? Value() : Value(each.dispatch),
                                  each.operations, each.cycles, double(each.cycles) / (mhz * 1e6)});
  }
  return section;
}

}  // namespace

Document torq_timeline_document(TorqTimelineAnswer answer, const TorqTimelineOptions& options) {
  Document document;
  for (TorqComparison& comparison : answer.comparisons) {
    document.sections.push_back(comparison_section(std::move(comparison), options));
  }
  if (!answer.estimates.empty()) {
    document.sections.push_back(estimates_section(answer.estimates, options.mhz));
  }
  return document;
}

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
