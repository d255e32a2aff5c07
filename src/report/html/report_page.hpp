// `npuscope report`: one HTML file that shows all of npuscope's pages of some profiles, and what
// ran when.
//
//   ReportPage page({.arguments = {"npuscope", "report", "chain8"}});
//   page.add(analysis, {});
//   page.json()    what the page shows, as JSON (docs/schema/report.schema.json)
//   page.html()    the page
//
// The page itself is web/built/page.html, made from the TypeScript in web/; the JSON and the
// columns of the profiles (web/src/data/report.ts) are written into it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "report/document/document.hpp"
#include "report/html/profile_columns.hpp"
#include "report/memory/peaks.hpp"

namespace npuscope::report {

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

  void add(const analysis::Analysis& analysis, const ReportPart& part);
  // The page of a comparison, as `npuscope diff` has it.
  void set_comparison(const Document& document);
  void set_fleet(const FleetReport& fleet);
  void add_notes(const std::vector<Note>& notes);

  bool empty() const { return profiles_.empty() && fleet_.is_null(); }
  std::string json() const;
  std::string html() const;

 private:
  nlohmann::ordered_json report() const;
  std::string data() const;

  ReportRequest request_;
  nlohmann::ordered_json profiles_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json heads_ = nlohmann::ordered_json::array();  // of the columns
  nlohmann::ordered_json comparison_ = nullptr;
  nlohmann::ordered_json fleet_ = nullptr;
  nlohmann::ordered_json notes_ = nlohmann::ordered_json::array();
  std::string columns_;
};

}  // namespace npuscope::report
