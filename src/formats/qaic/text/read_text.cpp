#include "formats/qaic/text/read_text.hpp"

#include <algorithm>

#include "formats/qaic/text/read_text_parts.hpp"

namespace npuscope::qaic {
namespace {

// The run's only device; none where it has several.
UnitId only_device(const Profile& run) {
  UnitId device = UnitId::none;
  for (std::uint32_t unit = 0; unit < run.units.size(); ++unit) {
    if (run.units[unit].engine != Engine::device) continue;
    if (device != UnitId::none) return UnitId::none;
    device = UnitId(unit);
  }
  return device;
}

}  // namespace

bool join_compiler_log(Profile& run, const Profile& compiled) {
  const std::string& name = run.provenance.graph;
  const std::string& compiled_name = compiled.provenance.graph;
  const bool names_differ = !name.empty() && !compiled_name.empty() && name != compiled_name;
  const UnitId device = only_device(run);
  if (names_differ || device == UnitId::none) return false;
  const auto copy = [&](StringId text) { return run.strings.intern(compiled.text(text)); };
  const auto first_unit = std::uint32_t(run.units.size());
  std::vector<UnitId> units;
  for (const Unit& unit : compiled.units) {
    if (unit.engine == Engine::device) {
      units.push_back(device);
      continue;
    }
    units.push_back(UnitId(std::uint32_t(run.units.size())));
    Unit added = unit;
    added.name = copy(unit.name);
    run.units.push_back(added);
  }
  for (std::size_t unit = first_unit; unit < run.units.size(); ++unit) {
    UnitId& parent = run.units[unit].parent;
    parent = index_of(parent) < units.size() ? units[index_of(parent)] : device;
  }
  const auto first_clock = std::uint32_t(run.clocks.size());
  for (Clock clock : compiled.clocks) {
    clock.name = copy(clock.name);
    run.clocks.push_back(clock);
  }
  for (Measure measure : compiled.measures) {
    if (measure.subject == Measure::Subject::unit) {
      if (measure.subject_id >= units.size()) continue;
      measure.subject_id = index_of(units[measure.subject_id]);
    } else if (measure.subject != Measure::Subject::profile) {
      continue;
    }
    measure.what = copy(measure.what);
    measure.clock = ClockId(index_of(measure.clock) + first_clock);
    run.measures.push_back(measure);
  }
  Provenance& from = run.provenance;
  from.files.insert(from.files.end(), compiled.provenance.files.begin(),
                    compiled.provenance.files.end());
  from.format = "Cloud AI 100 runner and compiler log";
  if (name.empty()) from.graph = compiled_name;
  run.notes.insert(run.notes.end(), compiled.notes.begin(), compiled.notes.end());
  run.notes.push_back({Severity::info, compiled.provenance.files.front(), 0,
                       "taken for the compiler's log of the program that ran: one of each was "
                       "opened",
                       1});
  return true;
}

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TextKind recognise_text(std::string_view head) {
  if (has(head.substr(0, 4096), "core  ucycles  ucycles(%)")) return TextKind::summary;
  if (head.starts_with("Profiling Data") && has(head, "\nSample")) return TextKind::latency_table;
  if (has(head, "totalRoundtripTime ") && has(head, " 50% ") && has(head, "devExec ")) {
    return TextKind::latency_statistics;
  }
  if (has(head, "Compiler estimated memory traffic:") || has(head, "AIC HMX MAC estimate:") ||
      has(head, "Original Graph operation size histogram:")) {
    return TextKind::compiler_log;
  }
  if (has(head, " ---- Stats ----") || has(head, "Aggregated Device Metrics Report")) {
    return TextKind::runner_log;
  }
  return TextKind::none;
}

std::string_view name_of(TextKind kind) {
  switch (kind) {
    case TextKind::summary: return "Cloud AI 100 statistics summary";
    case TextKind::compiler_log: return "Cloud AI 100 compiler log";
    case TextKind::runner_log: return "Cloud AI 100 runner log";
    case TextKind::latency_table: return "Cloud AI 100 latency samples";
    case TextKind::latency_statistics: return "Cloud AI 100 latency statistics";
    case TextKind::none: break;
  }
  return "unknown text";
}

Result<std::vector<Profile>> read_text(TextKind kind, std::string_view text,
                                       const std::string& name) {
  Result<std::vector<Profile>> profiles = input_error(
      "{}: not a text of the Cloud AI 100 tools; check that it is the right file", name);
  switch (kind) {
    case TextKind::summary: profiles = read_summary(text, name); break;
    case TextKind::compiler_log: profiles = read_compiler_log(text, name); break;
    case TextKind::runner_log: profiles = read_runner_log(text, name); break;
    case TextKind::latency_table: profiles = read_latency_table(text, name); break;
    case TextKind::latency_statistics: profiles = read_latency_statistics(text, name); break;
    case TextKind::none: break;
  }
  if (!profiles) return profiles;
  for (Profile& profile : *profiles) {
    profile.provenance.files = {name};
    profile.provenance.format = std::string(name_of(kind));
  }
  return profiles;
}

}  // namespace npuscope::qaic
