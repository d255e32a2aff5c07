#include "report/document/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/document/document_value.hpp"
#include "report/document/provenance.hpp"

namespace npuscope::report {

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

namespace {

// As text shows it: of columns that are for text, those that have a value.
std::string table_text(const Document& document, const Table& table) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.fields.size(); ++i) {
    const Field& field = table.fields[i];
    const bool is_empty =
        field.only_if_known && std::none_of(table.rows.begin(), table.rows.end(),
                                            [&](const auto& row) { return row[i].known(); });
    if (!field.label.empty() && field.format != Format::bar && !is_empty) shown.push_back(i);
  }
  if (shown.empty()) return {};
  std::string head = "\n|", rule = "|", body;
  for (const std::size_t i : shown) {
    head += fmt::format(" {} |", markdown_escaped(table.fields[i].label));
    rule += stands_left(table.fields[i]) ? "---|" : "---:|";
  }
  for (const auto& row : table.rows) {
    body += "|";
    for (const std::size_t i : shown) {
      body += fmt::format(" {} |",
                          markdown_escaped(value_text(document.profile, table.fields[i], row[i])));
    }
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

// In a fence that no line of it can end.
std::string drawing_text(const std::vector<std::string>& lines) {
  std::size_t longest = 2, run = 0;
  for (const std::string& line : lines) {
    for (const char c : line) longest = std::max(longest, run = c == '~' ? run + 1 : 0);
    run = 0;
  }
  const std::string fence(longest + 1, '~');
  std::string out = "\n" + fence + "\n";
  for (const std::string& line : lines) out += line + "\n";
  return out + fence + "\n";
}

std::string section_text(const Document& document, const Section& section, int level) {
  std::string out;
  if (!section.title.empty()) {
    out += fmt::format("\n{} {}\n", std::string(std::size_t(level), '#'),
                       markdown_escaped(section.title));
  }
  bool any = false;
  for (const Fact& fact : section.facts) {
    if (fact.field.label.empty() || !fact.value.known()) continue;
    if (!any) out += "\n";
    any = true;
    out += fmt::format("- {}: {}\n", markdown_escaped(fact.field.label),
                       markdown_escaped(value_text(document.profile, fact.field, fact.value)));
  }
  if (!section.table.rows.empty()) {
    out += table_text(document, section.table);
  } else if (shows_none(section)) {
    out += "\nnone\n";
  }
  if (!section.drawing.empty()) out += drawing_text(section.drawing);
  for (const std::string& remark : section.remarks) out += "\n" + markdown_escaped(remark) + "\n";
  for (const Section& part : section.parts) out += section_text(document, part, level + 1);
  return out;
}

}  // namespace

std::string document_markdown(const Document& document, const std::string& title) {
  std::string out = fmt::format("# {}\n", markdown_escaped(title));
  for (const Section& section : document.sections) out += section_text(document, section, 2);
  return out;
}

std::string documents_markdown(std::span<const Document> documents) {
  constexpr std::string_view program_title("npuscope");  // of what is of no profile
  std::string out;
  for (const Document& document : documents) {
    if (!out.empty()) out += "\n";
    std::string head;
    std::string title(program_title);
    const auto say = [&](std::string_view label, std::string_view text) {
      if (!text.empty()) head += fmt::format("{}: {}  \n", label, markdown_escaped(text));
    };
    if (const Profile* profile = document.profile) {
      title = files_text(*profile);
      say("profile", document.about);
      if (is_damaged(*profile)) say("caution", damage_text(*profile));
      say("selection", document.selection);
      say("scope", document.scope);
      for (const std::string& caution : cautions_of(*profile)) say("caution", caution);
      say("notes", warnings_text(*profile));
    }
    std::string text = document_markdown(document, title);
    if (!head.empty()) text.insert(text.find('\n') + 1, "\n" + head);
    out += text;
  }
  return out;
}

}  // namespace npuscope::report
