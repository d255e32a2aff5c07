#include "report/document/document_markdown.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/document/document_value.hpp"

namespace npuscope::report {
namespace {

// Names are data: nothing in them may begin markup, a link or a column.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_{}[]<>#|~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string table_text(const Document& document, const Table& table) {
  std::string head = "|", rule = "|", body;
  for (const Field& field : table.fields) {
    if (field.label.empty()) continue;
    head += fmt::format(" {} |", escaped(field.label));
    rule += stands_left(field) ? "---|" : "---:|";
  }
  for (const auto& row : table.rows) {
    body += "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.fields[i].label.empty()) continue;
      body += fmt::format(" {} |", escaped(value_text(document.profile, table.fields[i], row[i])));
    }
    body += "\n";
  }
  return head + "\n" + rule + "\n" + body;
}

std::string section_text(const Document& document, const Section& section, int level) {
  std::string out;
  if (!section.title.empty()) {
    out += fmt::format("\n{} {}\n", std::string(std::size_t(level), '#'), escaped(section.title));
  }
  if (!section.facts.empty()) out += "\n";
  for (const Fact& fact : section.facts) {
    if (fact.field.label.empty() || !fact.value.known()) continue;
    out += fmt::format("- {}: {}\n", escaped(fact.field.label),
                       escaped(value_text(document.profile, fact.field, fact.value)));
  }
  if (!section.table.rows.empty()) {
    out += "\n" + table_text(document, section.table);
  } else if (shows_none(section)) {
    out += "\nnone\n";
  }
  for (const std::string& remark : section.remarks) out += "\n" + escaped(remark) + "\n";
  for (const Section& part : section.parts) out += section_text(document, part, level + 1);
  return out;
}

}  // namespace

std::string document_markdown(const Document& document, const std::string& title) {
  std::string out = fmt::format("# {}\n", escaped(title));
  for (const Section& section : document.sections) out += section_text(document, section, 2);
  return out;
}

}  // namespace npuscope::report
