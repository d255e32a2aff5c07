// All pages of one profile, as the report shows them, and what else it says of it
// (web/src/data/report.ts, ProfileReport).
#pragma once

#include <vector>

#include "report/html/profile_columns.hpp"
#include "report/html/report_page.hpp"

namespace npuscope::report {

struct ProfilePages {
  std::string report;  // JSON
  std::vector<OpRows> op_rows;
  std::vector<FindingPlace> places;
};

ProfilePages profile_pages(const analysis::Analysis& analysis, const ReportRequest& request,
                           const ReportPart& part);

}  // namespace npuscope::report
