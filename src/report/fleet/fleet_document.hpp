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
#include "fleet/store.hpp"
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

// What `npuscope fleet add`, `retain` and `export` say of what they did.
//
//   412 runs added to fleet.db (3 were there), 103,000 op runs

struct FleetAdded {
  std::string store;
  fleet::Added added;
  std::uint64_t damaged = 0, sets = 0, unopened = 0;
};
Document fleet_added_document(const FleetAdded& what);

struct FleetRemoved {
  std::string store;
  std::int64_t before = 0;  // seconds since 1970-01-01
  fleet::Removed removed;
  bool is_dry_run = false;
};
Document fleet_removed_document(const FleetRemoved& what);

struct FleetWritten {
  std::string store, output;
  std::uint64_t files = 0, bytes = 0;
};
Document fleet_written_document(const FleetWritten& what);

// What the pages of a fleet share.

// STORE: its name, what was chosen, how many runs.
Section fleet_head(const FleetHead& head, std::uint64_t runs,
                   const std::vector<std::string>& remarks);

Value cell_of(const fleet::Value& value);
// Fields of --by, and their cells.
void add_group_fields(Table& table, const std::vector<std::string>& by);
std::vector<Value> group_cells(const std::vector<fleet::Value>& by);
template <class T>
void append(std::vector<Value>& row, std::initializer_list<T> cells) {
  row.insert(row.end(), cells);
}

// " by device, build", or nothing.
std::string by_text(const std::vector<std::string>& by);

// "the median run of pixel-17: npuscope show a.bin program.bin"
std::string how_to_open(const fleet::MedianRun& run, const std::vector<fleet::Value>& by);
std::string first_file(const fleet::MedianRun& run);

// The format of a time in the unit that runs have in common.
Format format_of(fleet::CommonClock::Unit unit);

Value time_value(const std::optional<std::int64_t>& seconds);

}  // namespace npuscope::report
