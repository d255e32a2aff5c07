#include "report/words/reference_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/text.hpp"
#include "report/document/document_value.hpp"
#include "report/words/builtin_pages.hpp"

namespace npuscope::report {
namespace {

constexpr std::string_view group_mark = "## ", entry_mark = "### ", fence = "```", item_mark = "- ";

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(", "), list.size());
    names.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 2, list.size()));
  }
  return names;
}

ReferenceEntry entry_of(std::string_view heading, const std::string& group) {
  const std::size_t colon = heading.find(": ");
  ReferenceEntry entry{group, std::string(heading), names_in(heading.substr(0, colon)), {}};
  if (colon != heading.npos) entry.title = heading.substr(colon + 2);
  return entry;
}

// Lower case, a plural in the singular: what names are compared by.
std::string comparable(std::string_view name) {
  std::string text = in_small_letters(name);
  if (text.size() > 3 && text.ends_with('s') && !text.ends_with("ss")) text.pop_back();
  return text;
}

constexpr const char* names_of_pages[] = {"glossary", "recording", "rules"};

std::vector<ReferenceEntry> entries_named(std::string_view wanted) {
  for (const auto& [name, text] : builtin_pages) {
    if (name == wanted) return entries_in(text);
  }
  return {};
}

void draw(const std::string& text, const char* first, const char* others, std::size_t width,
          std::vector<std::string>& lines) {
  const std::size_t indent = std::string_view(first).size();
  for (const std::string& words : wrapped(text, width - std::min(width - 1, indent))) {
    lines.push_back(first + words);
    first = others;
  }
}

}  // namespace

std::vector<ReferenceEntry> entries_in(std::string_view markdown) {
  using Kind = EntryBlock::Kind;
  std::vector<ReferenceEntry> entries;
  std::string group;
  bool in_commands = false, continues = false;
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find('\n'), markdown.size());
    const std::string line(markdown.substr(0, end));
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    const std::string_view view = line;
    if (!in_commands && view.starts_with(entry_mark)) {
      entries.push_back(entry_of(view.substr(entry_mark.size()), group));
      continues = false;
    } else if (!in_commands && view.starts_with(group_mark)) {
      group = line.substr(group_mark.size());
    } else if (!entries.empty()) {
      auto& blocks = entries.back().blocks;
      if (view.starts_with(fence)) {
        in_commands = !in_commands;
        if (in_commands) blocks.push_back({Kind::commands, {}});
        continues = false;
      } else if (in_commands) {
        blocks.back().text += (blocks.back().text.empty() ? "" : "\n") + line;
      } else if (line.empty()) {
        continues = false;
      } else if (view.starts_with(item_mark)) {
        blocks.push_back({Kind::item, line.substr(item_mark.size())});
        continues = true;
      } else if (continues) {
        blocks.back().text += " " + line.substr(line.find_first_not_of(' '));
      } else {
        blocks.push_back({Kind::text, line});
        continues = true;
      }
    }
  }
  return entries;
}

const std::vector<ReferenceEntry>& entries_of(ReferencePage page) {
  static std::array<std::vector<ReferenceEntry>, std::size(names_of_pages)> pages;
  static std::array<std::once_flag, std::size(names_of_pages)> once;
  const auto place = std::size_t(page);
  std::call_once(once[place], [&] { pages[place] = entries_named(names_of_pages[place]); });
  return pages[place];
}

const ReferenceEntry* find_entry(ReferencePage page, std::string_view name) {
  const std::string wanted = comparable(name);
  for (const ReferenceEntry& entry : entries_of(page)) {
    for (const std::string& each : entry.names) {
      if (comparable(each) == wanted) return &entry;
    }
  }
  return nullptr;
}

namespace {

// `text` for a shell, or for the text in quotes of another language that it stands in.
std::string quoted_for(const std::string& text, bool is_in_quotes) {
  std::string quoted;
  for (const char c : text) {
    if (is_in_quotes && (c == '"' || c == '\\')) quoted += '\\';
    quoted += !is_in_quotes && c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return is_in_quotes ? quoted : "'" + quoted + "'";
}

}  // namespace

ReferenceEntry with_model(const ReferenceEntry& entry, const std::string& model) {
  ReferenceEntry filled = entry;
  constexpr std::string_view placeholder = "MODEL.onnx";
  for (EntryBlock& block : filled.blocks) {
    if (block.kind != EntryBlock::Kind::commands) continue;
    std::size_t from = 0;
    for (auto at = block.text.find(placeholder); at != block.text.npos;
         at = block.text.find(placeholder, from)) {
      const std::string text = quoted_for(model, at > 0 && block.text[at - 1] == '"');
      block.text.replace(at, placeholder.size(), text);
      from = at + text.size();
    }
  }
  return filled;
}

Document entry_document(const ReferenceEntry& entry, std::size_t width) {
  Section section{.key = "entry", .title = entry.title};
  std::string text;
  std::vector<std::string> commands;
  for (const EntryBlock& block : entry.blocks) {
    if (block.kind == EntryBlock::Kind::commands) {
      section.drawing.emplace_back();
      for (std::string_view rest = block.text; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        section.drawing.push_back("    " + std::string(rest.substr(0, end)));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      section.drawing.emplace_back();
      commands.push_back(block.text);
      continue;
    }
    const bool is_item = block.kind == EntryBlock::Kind::item;
    draw(block.text, is_item ? "  - " : "  ", is_item ? "    " : "  ", width, section.drawing);
    text += (text.empty() ? "" : "\n") + block.text;
  }
  section.facts = {
      {{"name"}, entry.names.front()}, {{"names"}, entry.names}, {{"group"}, entry.group},
      {{"title"}, entry.title},        {{"text"}, text},         {{"commands"}, commands}};
  return {.sections = {std::move(section)}};
}

Document entries_document(ReferencePage page, std::size_t width) {
  Section section{.key = "entries"};
  section.table.fields = {{"name"}, {"names"}, {"group"}, {"title"}};
  std::vector<std::string> groups;
  for (const ReferenceEntry& entry : entries_of(page)) {
    section.table.rows.push_back({entry.names.front(), entry.names, entry.group, entry.title});
    if (groups.empty() || groups.back() != entry.group) groups.push_back(entry.group);
  }
  std::size_t widest = 0;
  for (const ReferenceEntry& entry : entries_of(page)) {
    widest = std::max(widest, entry.names.front().size());
  }
  Document document;
  for (const std::string& group : groups) {
    Section shown{.title = group};
    std::string names;
    for (const ReferenceEntry& entry : entries_of(page)) {
      if (entry.group != group) continue;
      if (page == ReferencePage::recording) {
        shown.drawing.push_back(
            fmt::format("  {:<{}}  {}", entry.names.front(), widest, entry.title));
      } else {
        names += (names.empty() ? "" : ", ") + entry.names.front();
      }
    }
    if (!names.empty()) draw(names, "  ", "  ", width, shown.drawing);
    document.sections.push_back(std::move(shown));
  }
  document.sections.push_back(std::move(section));
  return document;
}

}  // namespace npuscope::report
