#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/sort_rows.hpp"
#include "base/text.hpp"
#include "report/document/names.hpp"
#include "report/document/note_text.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report {

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

}  // namespace npuscope::report
