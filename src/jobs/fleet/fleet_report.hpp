// What the tab of a fleet in `npuscope report` shows: the answers of all questions about its runs.
//
//   auto report = fleet_report(*store, {.store = "fleet.db"}, {});
//   report->pages[1].command       // npuscope fleet latency fleet.db --by device
//
// A question that this store cannot answer (times of different clocks, no tag to order runs by) is
// in `missing` with the sentence that its command prints.
#pragma once

#include "fleet/store.hpp"
#include "report/fleet/fleet_document.hpp"
#include "report/html/report_page.hpp"

namespace npuscope::jobs {

struct FleetReportRequest {
  std::vector<std::string> by =
      {};  // rows of latency and outliers; empty: devices, of one device models
  std::string along =
      {};  // what orders runs for change points; empty: the tag build, if there is one
  std::size_t top = 2'000;  // rows of a table that is not cut otherwise
};

// An error where even what the store holds cannot be listed.
Result<report::FleetReport> fleet_report(fleet::Store& store, const report::FleetHead& head,
                                         const FleetReportRequest& request);

}  // namespace npuscope::jobs
