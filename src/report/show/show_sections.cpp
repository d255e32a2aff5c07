#include "report/show/show_sections.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "analysis/ops/model_parts.hpp"
#include "base/counted.hpp"
#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "report/document/document.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"
#include "report/ops/ops_table.hpp"

namespace npuscope::report {
namespace {

std::string inferences_of(const Provenance& from) {
  constexpr const char* temperatures[] = {"", "cold", "warm", "the first cold, then warm"};
  std::string text;
  const auto add = [&](const std::string& part, const char* separator) {
    if (!part.empty()) text += (text.empty() ? "" : separator) + part;
  };
  if (from.inferences > 0) add(thousands(from.inferences), "");
  add(temperatures[std::size_t(from.temperature)], ", ");
  if (!from.instrumentation.empty()) add("instrumented: " + from.instrumentation, "; ");
  return text;
}

std::string clock_text(const analysis::Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const std::size_t base = index_of(profile.base_clock);
  if (profile.spans.size() == 0 || base >= profile.clocks.size()) return {};
  const Clock& clock = profile.clocks[base];
  const std::string unit = unit_of(profile, profile.base_clock);
  const std::string text = fmt::format("{} ({})", profile.text(clock.name), unit);
  const auto rate = analysis::clock_rate_during(profile, analysis.timeline_extent());
  if (clock.rate.value > 0) {
    return unit == "ns" || unit == "ps" ? text : text + ", " + hertz_text(clock.rate.value);
  }
  if (!rate) return text + ", rate unknown: no times in seconds";
  if (rate->origin == Origin::derived) {
    return text +
           fmt::format(", {} ({})", hertz_text(rate->rate.value), derived_rate_text(rate->error));
  }
  return text + fmt::format(", {} during this phase", hertz_text(rate->rate.value));
}

}  // namespace

Section about_section(const analysis::Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const Provenance& from = profile.provenance;
  const std::string format = from.format.empty() ? "unknown" : from.format;
  Section section{.key = "about"};
  section.facts = {
      {{"", "files", Format::names}, from.files.size() > 1 ? Value(from.files) : Value()},
      {{"", "format"}, format + (from.version.empty() ? "" : ", " + from.version)},
      {{"version"}, if_any(from.version)},
      {{"device", "device"}, if_any(from.device)},
      {{"graph", "graph"}, if_any(from.graph)},
      {{"", "inferences"}, if_any(inferences_of(from))},
      {{"inferences"}, if_positive(from.inferences)},
      {{"temperature"}, stable_name(from.temperature)},
      {{"instrumentation"}, if_any(from.instrumentation)},
      {{"", "clock"}, if_any(clock_text(analysis))}};
  std::string held;
  const auto holds = [&](const char* key, std::uint64_t count, const char* one, const char* many) {
    section.facts.push_back({{key}, count});
    if (count == 0) return;
    held += (held.empty() ? "" : ", ") + counted(count, one, many);
  };
  holds("spans", profile.spans.size(), "span", "spans");
  holds("ops", profile.ops.size(), "op", "ops");
  holds("units", profile.units.size(), "unit", "units");
  holds("phases", profile.phases.size(), "phase", "phases");
  holds("counter_samples", profile.counters.size(), "counter sample", "counter samples");
  holds("flows", profile.flows.size(), "flow", "flows");
  holds("edges", profile.edges.size(), "dependency", "dependencies");
  holds("tensors", profile.tensors.size(), "tensor", "tensors");
  holds("measures", profile.measures.size(), "number", "numbers");
  section.facts.push_back({{"", "holds"}, held.empty() ? "nothing" : held});
  return section;
}

// A row for each in JSON; text tells of those that did not pass, and of the impossible ones
// together what they lack: a single file of a set need not mourn the others line by line.
Section checks_section(const Profile& profile) {
  if (profile.checks.empty()) return {};
  std::size_t of_outcome[3] = {};
  for (const Check& check : profile.checks) of_outcome[std::size_t(check.outcome)] += 1;
  Section section{.key = "checks"};
  section.title = fmt::format("CHECKS  {} passed", of_outcome[0]);
  if (of_outcome[1] > 0) section.title += fmt::format(", {} FAILED", of_outcome[1]);
  if (of_outcome[2] > 0) {
    section.title += fmt::format(", {} skipped (missing data)", of_outcome[2]);
  }
  section.table.fields = {{"name"}, {"outcome"}, {"detail"}};
  std::vector<std::string> missing;
  for (const Check& check : profile.checks) {
    section.table.rows.push_back({check.name, stable_name(check.outcome), check.detail});
    if (check.outcome == Check::Outcome::failed) {
      section.facts.push_back(
          {{"", "FAILED"}, check.detail.empty() ? check.name : check.name + ": " + check.detail});
    }
    if (check.outcome != Check::Outcome::impossible || check.detail.empty()) continue;
    if (std::find(missing.begin(), missing.end(), check.detail) == missing.end()) {
      missing.push_back(check.detail);
    }
  }
  if (!missing.empty()) section.facts.push_back({{"", "missing", Format::names}, missing});
  return section;
}

// In JSON the profile's own key `notes` has them all.
Section notes_section(const Profile& profile, std::size_t top) {
  if (profile.notes.empty()) return {};
  std::vector<const Note*> notes;
  for (const Note& note : profile.notes) notes.push_back(&note);
  sort_rows(notes.begin(), notes.end(),
            [](const Note* a, const Note* b) { return a->severity > b->severity; });
  const std::size_t kept = std::min(top, notes.size());
  Section section{.key = "notes", .title = fmt::format("NOTES ({})", thousands(notes.size()))};
  if (kept < notes.size()) {
    section.title = fmt::format("NOTES ({} of {})", thousands(kept), thousands(notes.size()));
  }
  const auto& files = profile.provenance.files;
  for (std::size_t i = 0; i < kept; ++i) {
    Note rest = *notes[i];
    const bool is_only_file = files.size() == 1 && files.front() == rest.file;
    rest.file = is_only_file ? "" : std::filesystem::path(rest.file).filename().string();
    const std::string text = note_text(rest);
    section.facts.push_back({{"", stable_name(rest.severity)}, text.substr(text.find(' ') + 1)});
  }
  return section;
}

using namespace analysis;

Section model_parts_section(const Analysis& analysis) {
  const OpTable ops = analysis.ops(options_of_parts());
  const auto parts = model_parts(analysis.profile(), ops);
  if (!parts) return {};
  const OpColumn& column = ops.columns[ops.ranked_by];
  const bool is_time = column.kind != MeasureKind::count;
  Section section{.key = "model_parts", .title = "PARTS OF THE MODEL, by " + ops.ranked_by_name};
  section.facts = {{{"rules", "rules", Format::name}, parts->rules},
                   {{"explained_share", "", Format::share}, parts->explained}};
  section.table.fields = {{"part", "part", Format::name},
                          {"value", ops.ranked_by_name, is_time ? Format::ticks : Format::number},
                          {"share", "of all", Format::share}};
  section.table.fields[1].clock = column.clock;
  for (const ModelPart& part : parts->parts) {
    section.table.rows.push_back({part.name, part.value, part.share});
  }
  return section;
}

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

using namespace analysis;

Section traffic_section(const Analysis& analysis) {
  const UnitTable& units = analysis.units();
  if (!units.traffic.known()) return {};
  const Profile& profile = analysis.profile();
  const auto wall = double(units.wall);
  const auto rate = clock_rate_during(profile, analysis.coarse().timeline);
  const bool in_time = shows_time(profile, profile.base_clock);
  Section section{.key = "traffic",
                  .title = std::string("MEMORY TRAFFIC  summed over ") + units.traffic_source};
  section.facts = {{{"source"}, units.traffic_source}};
  section.table.fields = {
      {"memory", "memory"},
      {"direction", "direction"},
      {"bytes", "bytes", Format::bytes},
      {"bytes_per_tick", in_time ? "" : "bytes a cycle of wall", Format::number, true, true},
      {"bytes_per_second", "average", Format::bytes_per_second, true, true}};
  for (const Route route : Traffic::routes) {
    const auto bytes = units.traffic.of(route);
    if (!bytes) continue;
    Value per_tick, per_second;
    if (wall > 0) per_tick = *bytes / wall;
    if (wall > 0 && rate) per_second = *bytes / (wall / rate->rate.value);
    const bool of_ddr = route == Route::ddr_read || route == Route::ddr_write;
    const bool is_read = route == Route::ddr_read || route == Route::vtcm_read;
    section.table.rows.push_back(
        {of_ddr ? "DDR" : "VTCM", is_read ? "read" : "write", *bytes, per_tick, per_second});
  }
  return section;
}

}  // namespace npuscope::report
