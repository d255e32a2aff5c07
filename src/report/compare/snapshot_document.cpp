
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/compare/diff_document.hpp"
#include "report/document/document_json.hpp"
#include "report/document/document_value.hpp"

namespace npuscope::report {
namespace {

std::uint64_t rows_of_ops(const RunNumbers& numbers) {
  return std::uint64_t(std::count_if(numbers.groups.begin(), numbers.groups.end(),
                                     [](const OpGroup& group) { return group.ops > 0; }));
}

std::string plural(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", thousands(count), what, count == 1 ? "" : "s");
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
                     bytes_text(double(written.bytes)), plural(written.runs.size(), "run"),
                     plural(inferences, "inference"), plural(ops, "row"));
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
