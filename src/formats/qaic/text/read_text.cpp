#include "formats/qaic/text/read_text.hpp"

#include "formats/qaic/text/read_text_parts.hpp"

namespace npuscope::qaic {
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
