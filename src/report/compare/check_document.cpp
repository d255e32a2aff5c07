#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "profile/names.hpp"
#include "report/compare/diff_document.hpp"
#include "report/compare/diff_text.hpp"
#include "report/compare/expected_provider.hpp"
#include "report/document/document_json.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {

namespace {

using namespace analysis;

Section run_section(const Diff& check) {
  const Comparison& all = check.comparison;
  const bool several = all.runs[1] == 1 && all.samples[1] + all.apart[1] > 1;
  const std::string scope = several ? scope_of_median(all.samples[1], all.apart[1] > 0) : "";
  Section section{.key = "run"};
  section.facts = {{{"runs", "runs"}, side_text(check, 1)},
                   {{"scope", "scope"}, if_any(scope)},
                   {{"selection", "selection"}, if_any(check.selection)},
                   {{"verdict", "verdict"}, verdict_text(check)},
                   {{"run_count", "", Format::count}, all.runs[1]},
                   {{"samples", "", Format::count}, all.samples[1]},
                   {{"cold_apart", "", Format::count}, all.apart[1]},
                   {{"cold", "", Format::truth}, all.cold[1]}};
  return section;
}

std::vector<Value> row_of(const MetricChange& metric) {
  const Estimate& estimate = metric.estimate;
  const auto& samples = estimate.samples_b;
  const auto interval = percentile_interval(samples, estimate.percent);
  const auto [min, max] = std::minmax_element(samples.begin(), samples.end());
  return {metric.name,
          if_any(metric.source),
          stable_name(metric.kind),
          estimate.b,
          interval ? Value(interval->low) : Value(),
          interval ? Value(interval->high) : Value(),
          *min,
          *max,
          samples.size(),
          estimate.cold_b};
}

// Numbers in one unit: what the run is judged by, then the others.
Section values_section(const Diff& check, MeasuredIn unit) {
  Section section{.key = "numbers", .in_list = true};
  const Format format = format_in(unit);
  const bool is_shown = check.empty();
  const auto label = [&](const char* text) { return is_shown ? text : ""; };
  section.facts = {{{"unit", ""}, name_of(unit)}};
  section.table.fields = {{"name", label("number")},
                          {"source", label("which is"), Format::name, false, true},
                          {"kind", label("kind")},
                          {"value", label("value"), format},
                          {"low", label("95 % from"), format, false, true},
                          {"high", label("to"), format, false, true},
                          {"min", label("min"), format},
                          {"max", label("max"), format},
                          {"samples", label("samples"), Format::count},
                          {"cold", "", Format::truth}};
  std::set<std::string_view> known;
  for (const auto* metrics : {&check.comparison.call, &check.comparison.metrics}) {
    for (const MetricChange& metric : *metrics) {
      const bool is_of_unit = metric.unit == unit && !metric.estimate.samples_b.empty();
      if (is_of_unit && known.insert(metric.name).second)
        section.table.rows.push_back(row_of(metric));
    }
  }
  if (is_shown) {
    section.title =
        unit == MeasuredIn::count ? "NUMBERS" : fmt::format("NUMBERS in {}", name_of(unit));
  }
  return section;
}

}  // namespace

Document check_document(const Diff& check) {
  Document document;
  for (const Profile* run : check.b) document.sides.push_back({"run", run});
  document.sections.push_back(run_section(check));
  if (!check.empty()) document.sections.push_back(gates_section(check));
  std::ranges::move(provider_sections(check), std::back_inserter(document.sections));
  Section warnings{.key = "cautions", .title = "CAUTIONS"};
  warnings.remarks = cautions(check);
  if (!warnings.remarks.empty()) document.sections.push_back(std::move(warnings));
  for (const MeasuredIn unit : {MeasuredIn::seconds, MeasuredIn::cycles, MeasuredIn::ticks,
                                MeasuredIn::bytes, MeasuredIn::count}) {
    Section section = values_section(check, unit);
    if (!section.table.rows.empty()) document.sections.push_back(std::move(section));
  }
  return document;
}

namespace {

std::uint64_t rows_of_ops(const RunNumbers& numbers) {
  return std::uint64_t(std::count_if(numbers.groups.begin(), numbers.groups.end(),
                                     [](const OpGroup& group) { return group.ops > 0; }));
}

std::vector<std::string> names_of_columns(const RunNumbers& numbers) {
  std::vector<std::string> names;
  for (const OpSamples& column : numbers.columns) names.push_back(column.name);
  return names;
}

}  // namespace

std::string snapshot_written_text(const WrittenSnapshot& written) {
  std::uint64_t inferences = 0, ops = 0;
  for (const WrittenSnapshot::Run& run : written.runs) {
    inferences += run.numbers->inferences.size();
    ops = std::max(ops, rows_of_ops(*run.numbers));
  }
  return fmt::format("wrote {} ({}): {}, {}, {} of ops\n", printable(written.path),
                     bytes_text(double(written.bytes)), counted(written.runs.size(), "run"),
                     counted(inferences, "inference"), counted(ops, "row"));
}

std::string snapshot_written_json(const WrittenSnapshot& written, std::span<const Note> notes) {
  return json_text([&](Json& json) {
    json.object("file", [&] {
      json.member("path", written.path);
      json.member("bytes", written.bytes);
    });
    json.objects("runs", written.runs, [&](const WrittenSnapshot::Run& run) {
      const RunNumbers& numbers = *run.numbers;
      write_profile_head(json, *run.profile, {}, numbers.selection);
      json.member("graph", or_null(run.profile->provenance.graph));
      json.member("inferences", numbers.inferences.size());
      json.member("numbers", numbers.metrics.size());
      json.member("op_rows", rows_of_ops(numbers));
      json.member("op_columns", names_of_columns(numbers));
    });
    write_notes(json, notes);
  });
}

Document snapshot_document(const Profile& profile) {
  const RunNumbers& numbers = *profile.numbers;
  const Provenance& from = profile.provenance;
  Section about{.key = "snapshot", .title = "SNAPSHOT"};
  about.facts = {{{"made_of", "files", Format::names}, numbers.files},
                 {{"format", "format"}, from.format},
                 {{"version", "version"}, if_any(from.version)},
                 {{"device", "device"}, if_any(from.device)},
                 {{"graph", "graph"}, if_any(from.graph)},
                 {{"instrumentation", "instrumentation"}, if_any(from.instrumentation)},
                 {{"selection", "selection"}, if_any(numbers.selection)},
                 {{"inferences", "inferences", Format::count}, numbers.inferences.size()},
                 {{"op_rows", "rows of ops", Format::count}, rows_of_ops(numbers)},
                 {{"op_columns", "columns of ops", Format::names}, names_of_columns(numbers)},
                 {{"findings", "findings", Format::count}, numbers.findings.found.size()}};
  about.remarks = {
      "A baseline for diff and check. It has no spans: timelines, units and paths are in the files "
      "that it was made of."};
  Document document;
  const analysis::RunSamples samples(profile);
  if (const auto comparer = analysis::Comparer::alone({&samples, 1})) {
    Diff alone;
    alone.b = {&profile};
    alone.comparison = comparer->compare({});
    document = check_document(alone);
  }
  document.sides.clear();
  document.profile = &profile;
  document.sections.insert(document.sections.begin(), std::move(about));
  return document;
}

}  // namespace npuscope::report
