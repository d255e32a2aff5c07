#include "report/show/show_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/document/names.hpp"

namespace npuscope::report {

void PageText::print_checks() {
  if (profile_.checks.empty()) return;
  std::size_t of_outcome[3] = {};
  for (const Check& check : profile_.checks) of_outcome[std::size_t(check.outcome)] += 1;
  std::string title = fmt::format("CHECKS  {} passed", of_outcome[0]);
  if (of_outcome[1] > 0) title += fmt::format(", {} FAILED", of_outcome[1]);
  if (of_outcome[2] > 0) title += fmt::format(", {} impossible here", of_outcome[2]);
  heading(title);
  for (const auto outcome : {Check::Outcome::failed, Check::Outcome::impossible}) {
    for (const Check& check : profile_.checks) {
      if (check.outcome != outcome) continue;
      line(outcome == Check::Outcome::failed ? "FAILED" : "impossible",
           check.detail.empty() ? check.name : check.name + ": " + check.detail);
    }
  }
}

void PageText::print_notes() {
  if (profile_.notes.empty()) return;
  std::vector<const Note*> notes;
  for (const Note& note : profile_.notes) notes.push_back(&note);
  std::stable_sort(notes.begin(), notes.end(),
                   [](const Note* a, const Note* b) { return a->severity > b->severity; });
  const std::size_t kept = std::min(page_.top, notes.size());
  heading(fmt::format("NOTES ({})", more(kept, notes.size())));
  for (std::size_t i = 0; i < kept; ++i) {
    Note rest = *notes[i];
    const auto& files = profile_.provenance.files;
    rest.file = files.size() == 1 && files.front() == rest.file ? "" : file_name(rest.file);
    const std::string text = note_text(rest);
    line(stable_name(rest.severity), text.substr(text.find(' ') + 1));
  }
}

std::string note_text(const Note& note) {
  std::string text = fmt::format("{}: ", stable_name(note.severity));
  if (!note.file.empty()) text += note.file + ": ";
  text += note.message;
  if (note.offset > 0) text += fmt::format(" (byte {})", note.offset);
  if (note.count > 1) text += fmt::format(" ({} times)", thousands(note.count));
  return text;
}

}  // namespace npuscope::report
