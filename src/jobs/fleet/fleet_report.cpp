#include "jobs/fleet/fleet_report.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/try.hpp"

namespace npuscope::jobs {
namespace {

class Pages {
 public:
  Pages(fleet::Store& store, const report::FleetHead& head) : store_(store), head_(head) {
    report.store = head.store;
    report.where = head.where;
  }

  fleet::Store& store() { return store_; }
  fleet::Choice choice() const { return {.where = head_.where, .by = {}}; }

  // The page of one question, under the command that prints it.
  template <class Answer, class Document>
  void add(const std::string& question, const std::string& flags, const Result<Answer>& answer,
           Document document) {
    const std::string command = command_of(question, flags);
    if (answer) {
      report.pages.push_back({command, document(head_, *answer)});
    } else {
      report.missing.emplace_back(command, answer.error().message);
    }
  }

  report::FleetReport report;

 private:
  std::string command_of(const std::string& question, const std::string& flags) const {
    std::string command = fmt::format("npuscope fleet {} {}", question, head_.store);
    if (!head_.where.empty()) command += fmt::format(" --where \"{}\"", head_.where);
    return flags.empty() ? command : command + " " + flags;
  }

  fleet::Store& store_;
  const report::FleetHead& head_;
};

std::vector<std::string> rows_of(const FleetReportRequest& request,
                                 const fleet::FleetListing& listing) {
  if (!request.by.empty()) return request.by;
  return {listing.all.devices > 1 ? "device" : "model"};
}

// Empty: nothing orders the runs.
std::string order_of(const FleetReportRequest& request, const fleet::FleetListing& listing) {
  if (!request.along.empty()) return request.along;
  const auto builds = [](const fleet::TagKey& tag) { return tag.key == "build" && tag.values > 1; };
  return std::any_of(listing.tags.begin(), listing.tags.end(), builds) ? "build" : "";
}

}  // namespace

Result<report::FleetReport> fleet_report(fleet::Store& store, const report::FleetHead& head,
                                         const FleetReportRequest& request) {
  Pages pages(store, head);
  TRY_AS(listing, fleet::list_of(store, pages.choice(), request.top));
  pages.add("ls", "", listing, report::fleet_listing_document);

  fleet::Choice grouped = pages.choice();
  grouped.by = rows_of(request, *listing);
  const std::string by = fmt::format("--by {}", fmt::join(grouped.by, ","));
  pages.add("latency", by, fleet::latency_of(store, grouped, {}), report::fleet_latency_document);
  const std::string along = order_of(request, *listing);
  if (!along.empty()) {
    fleet::Choice ordered = pages.choice();
    ordered.by = {along};
    pages.add("latency", "--by " + along, fleet::latency_of(store, ordered, {}),
              report::fleet_latency_document);
  }
  fleet::OutlierRequest outliers;
  if (!along.empty()) outliers.within = {along};
  pages.add("outliers", along.empty() ? by : fmt::format("{} --within {}", by, along),
            fleet::outliers_of(store, grouped, outliers), report::fleet_outliers_document);
  if (!along.empty()) {
    pages.add("diff", "--along " + along, fleet::change_points(store, pages.choice(), along, {}),
              report::fleet_points_document);
  }
  pages.add("ops", "", fleet::ops_of(store, pages.choice(), {.top = request.top}),
            report::fleet_ops_document);
  pages.add("findings", "", fleet::findings_of(store, pages.choice()),
            report::fleet_findings_document);
  return std::move(pages.report);
}

}  // namespace npuscope::jobs
