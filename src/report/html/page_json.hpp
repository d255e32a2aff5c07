// A document as a page of a report: its values as every command prints them, and how they are shown
// (web/src/data/report.ts, Page and Layout).
//
//   json.object([&] { write_page(json, "npuscope units", *document); });
//   {"command": "npuscope units", "values": {"units": {"rows": …}}, "layout": [{"key": "units",
//   …}]}
#pragma once

#include <string_view>

#include "report/document/document.hpp"
#include "report/document/json_text.hpp"

namespace npuscope::report {

void write_page(Json& json, std::string_view command, const Document& document);

}  // namespace npuscope::report
