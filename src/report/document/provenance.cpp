#include "report/document/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/run_identity.hpp"
#include "base/text.hpp"
#include "profile/estimates.hpp"
#include "report/document/quantity.hpp"

namespace npuscope::report {

std::string files_text(const Profile& profile) {
  const auto& files = profile.provenance.files;
  if (files.empty()) return "(no file)";
  const auto folder_of = [](const std::string& file) {
    return std::filesystem::path(file).parent_path().string();
  };
  const std::string folder = folder_of(files.front());
  const bool share = std::all_of(files.begin(), files.end(), [&](const std::string& file) {
    return folder_of(file) == folder;
  });
  if (!share && files.size() > 2) {
    return fmt::format("{} and {} more files", files.front(), files.size() - 1);
  }
  if (files.size() == 1 || !share || folder.empty()) return files.front();
  return folder;
}

std::string warnings_text(const Profile& profile) {
  std::uint64_t warnings = 0, errors = 0;
  for (const Note& note : profile.notes) {
    warnings += note.severity == Severity::warning;
    errors += note.severity == Severity::error;
  }
  std::string text;
  if (warnings > 0) text = fmt::format("{} warning{}", warnings, warnings == 1 ? "" : "s");
  if (errors > 0) {
    text += fmt::format("{}{} error{}", text.empty() ? "" : ", ", errors, errors == 1 ? "" : "s");
  }
  return text;
}

std::string what_was_profiled(const Profile& profile) {
  using Temperature = Provenance::Temperature;
  const Provenance& from = profile.provenance;
  std::string text = from.format.empty() ? "format unknown" : from.format;
  for (const std::string& part : {from.device, from.graph}) {
    if (!part.empty() && from.format.find(part) == std::string::npos) text += " · " + part;
  }
  if (times_are_estimates(from)) text += " · times are a compiler's estimate, nothing ran";
  if (from.inferences > 0) {
    text += fmt::format(" · {} inference{}", thousands(from.inferences),
                        from.inferences == 1 ? "" : "s");
    if (from.temperature == Temperature::cold) text += ", cold";
    if (from.temperature == Temperature::warm) text += ", warm";
    if (from.temperature == Temperature::cold_then_warm) text += ", the first cold";
  }
  return text;
}

bool is_structure_only(const Profile& profile) {
  using Temperature = Provenance::Temperature;
  const Provenance& from = profile.provenance;
  const bool begins_cold =
      from.temperature == Temperature::cold || from.temperature == Temperature::cold_then_warm;
  if (!begins_cold || from.instrumentation.empty()) return false;
  const ProfileContent content = analysis::content_of(profile);
  return content.has_spans && content.is_one_inference;
}

}  // namespace npuscope::report
