// The answers of `npuscope fleet`, as pages: a section each, rows of groups first.
//
//   RUNS  40 devices, 2,000 runs, from 2026-01-01T00:00:00Z to …
//   LATENCY by device (wall_seconds of warm inferences)
//     device     runs  inferences      50 %      90 %      99 %    clock  median run
//     pixel-17     50         200  1.310 ms  1.342 ms  1.360 ms  1.3 GHz  8123…
#pragma once

#include <string>

#include "fleet/questions/changes.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/questions/latency.hpp"
#include "fleet/questions/listing.hpp"
#include "fleet/questions/ops.hpp"
#include "fleet/questions/outliers.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// What a question was of.
struct FleetHead {
  std::string store;
  std::string where;  // empty: all runs
};

Document fleet_listing_document(const FleetHead& head, const fleet::FleetListing& listing);
Document fleet_latency_document(const FleetHead& head, const fleet::FleetLatency& latency);
Document fleet_ops_document(const FleetHead& head, const fleet::FleetOps& ops);
Document fleet_findings_document(const FleetHead& head, const fleet::FleetFindings& findings);
Document fleet_changes_document(const FleetHead& head, const fleet::OpChanges& changes);
Document fleet_points_document(const FleetHead& head, const fleet::ChangePoints& points);
Document fleet_outliers_document(const FleetHead& head, const fleet::FleetOutliers& outliers);

}  // namespace npuscope::report
