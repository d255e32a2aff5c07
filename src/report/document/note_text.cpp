#include "report/document/note_text.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/document/names.hpp"

namespace npuscope::report {

std::string note_text(const Note& note) {
  std::string text = fmt::format("{}: ", stable_name(note.severity));
  if (!note.file.empty()) text += note.file + ": ";
  text += note.message;
  if (note.offset > 0) text += fmt::format(" (byte {})", note.offset);
  if (note.count > 1) text += fmt::format(" ({} times)", thousands(note.count));
  return text;
}

}  // namespace npuscope::report
