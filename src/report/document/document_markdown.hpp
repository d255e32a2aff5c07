// A document as Markdown: sections become headings, facts a list, tables tables, remarks
// paragraphs.
//
//   ## Real runs
//
//   | run | figure | real | npuscope |
//   |---|---|---:|---:|
//   | Amber 7B decode | device time | 125.11 ms | 120.98 ms |
#pragma once

#include <string>

#include "report/document/document.hpp"

namespace npuscope::report {

// Names are data: nothing in them may begin markup, a link or a column.
std::string markdown_escaped(std::string_view text);

std::string document_markdown(const Document& document, const std::string& title);

// Pages of profiles, each under the names of its files; drawings become blocks of code.
std::string documents_markdown(std::span<const Document> documents);

}  // namespace npuscope::report
