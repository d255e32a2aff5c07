// A document as a page of a report: its values as every command prints them, and how they are shown
// (web/src/data/report.ts, Page and Layout).
//
//   page_json("npuscope units", *document)
//   {"command": "npuscope units", "values": {"units": {"rows": …}}, "layout": [{"key": "units",
//   …}]}
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "report/document/document.hpp"

namespace npuscope::report {

nlohmann::ordered_json page_json(const std::string& command, const Document& document);

}  // namespace npuscope::report
