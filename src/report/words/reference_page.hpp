// The pages of docs/ that commands print an entry of: `npuscope explain` of docs/glossary.md,
// `npuscope record-help` of docs/recording.md, `npuscope diagnose --explain` of docs/rules.md. The
// program holds their text; there is no other copy.
//
//   ## Where the time goes                       a group
//   ### wall, wall time                          an entry and its names; without ": …" also its
//   title
//   ### qnn, htp: QNN HTP with qnn-net-run       with a title of its own
//   From the first start to the last end of …    paragraphs, "- " items, ``` commands
//
//   find_entry(ReferencePage::glossary, "Wall times")->title    // "wall, wall time"
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/document/document.hpp"

namespace npuscope::report {

enum class ReferencePage { glossary, recording, rules };

struct EntryBlock {
  enum class Kind { text, item, commands };
  Kind kind = Kind::text;
  std::string text;  // of commands one a line, else a paragraph in one line
};

struct ReferenceEntry {
  std::string group;
  std::string title;
  std::vector<std::string> names;  // the first is the entry's own
  std::vector<EntryBlock> blocks;
};

std::vector<ReferenceEntry> entries_in(std::string_view markdown);
const std::vector<ReferenceEntry>& entries_of(ReferencePage page);

// By any of its names, in upper or lower case, in the plural too; null: there is none.
const ReferenceEntry* find_entry(ReferencePage page, std::string_view name);

// The entry with this file for the MODEL of its commands, quoted for a shell.
ReferenceEntry with_model(const ReferenceEntry& entry, const std::string& model);

// `width` wraps its text; JSON has the text and the commands.
Document entry_document(const ReferenceEntry& entry, std::size_t width);
Document entries_document(ReferencePage page, std::size_t width);

}  // namespace npuscope::report
