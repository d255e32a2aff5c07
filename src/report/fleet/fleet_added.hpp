// What `npuscope fleet add`, `retain` and `export` say of what they did.
//
//   412 runs added to fleet.db (3 were there), 103,000 op runs
#pragma once

#include "fleet/store.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

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

}  // namespace npuscope::report
