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

std::string document_markdown(const Document& document, const std::string& title);

}  // namespace npuscope::report
