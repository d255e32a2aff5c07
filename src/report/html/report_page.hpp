// `npuscope report`: one HTML file that shows all of npuscope's pages of some profiles, and what
// ran when.
//
//   ReportPage page({.arguments = {"npuscope", "report", "chain8"}});
//   page.add(analysis, {});
//   page.json()    what the page shows, as JSON (docs/schema/report.schema.json)
//   page.html()    the page
//   page.report_data()    its data alone, which another report's page opens
//
// The page itself is web/built/page.html, made from the TypeScript in web/; the JSON and the
// columns of the profiles (web/src/data/report.ts) are written into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"
#include "report/document/document_json.hpp"
#include "report/html/columns.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report {

// Of the columns and of ReportPage::report_data(); web/src/data/file.ts reads this one and no
// other.
constexpr int report_data_version = 1;

struct ReportRequest {
  std::vector<std::string> arguments;  // the command line, for the page to say
  ColumnLimits limits = {};
  std::size_t top = 2'000;  // of a table; the page says how many there are
  PeakText peaks = {};      // of the hardware
};

// The tab of a fleet's store: its pages in the order in which they are shown, each with the command
// that prints it.
struct FleetReport {
  struct Page {
    std::string command;
    Document document;
  };
  std::string store, where;  // as report::FleetHead
  std::vector<Page> pages;
  std::vector<std::pair<std::string, std::string>>
      missing;  // command, why the store cannot answer it
};

// What a profile was cut down to.
struct ReportPart {
  std::string selection = {};    // empty: it is whole
  bool leaves_out_rows = false;  // units or ops: a moment without work may be theirs
};

class ReportPage {
 public:
  explicit ReportPage(ReportRequest request) : request_(std::move(request)) {}

  // Of several all before the first is added: whether there is a coarse timeline depends on each.
  void expect(const Profile& profile);
  void add(const analysis::Analysis& analysis, const ReportPart& part);
  // The page of a comparison, as `npuscope diff` has it.
  void set_comparison(const Document& document);
  void set_fleet(const FleetReport& fleet);
  void add_notes(const std::vector<Note>& notes);

  bool empty() const { return profiles_.empty() && fleet_ == no_value; }
  std::string json() const;
  std::string html() const;
  // {"format": "npuscope report data", "version": 1, "report": …, "data": "H4sI…"}
  std::string report_data() const;

 private:
  // Columns behind their heads.
  struct Columns {
    std::vector<std::string> heads;  // JSON, by profile
    std::string bytes;
    std::string packed() const;
  };
  std::string report() const;
  void write_members(Json& json) const;

  ReportRequest request_;
  // JSON, without blanks.
  static constexpr const char* no_value = "null";
  std::vector<std::string> profiles_;
  std::string comparison_ = no_value, fleet_ = no_value;
  std::vector<Note> notes_;
  Columns columns_, coarse_;
  bool needs_coarse_ = false;  // a profile has many spans
};

// A document as a page of a report: its values as every command prints them, and how they are shown
// (web/src/data/report.ts, Page and Layout).
//
//   json.object([&] { write_page(json, "npuscope units", *document); });
//   {"command": "npuscope units", "values": {"units": {"rows": …}}, "layout": [{"key": "units",
//   …}]}

void write_page(Json& json, std::string_view command, const Document& document);

}  // namespace npuscope::report
