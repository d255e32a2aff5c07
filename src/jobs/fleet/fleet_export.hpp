// A fleet's store as files for other tools: a copy of the SQLite file, or a folder of CSV files,
// one a table, with the columns of docs/fleet.md.
#pragma once

#include <filesystem>

#include "fleet/store.hpp"

namespace npuscope::jobs {

struct FleetExported {
  std::uint64_t files = 0;
  std::uint64_t rows = 0;  // of CSV files
  std::uint64_t bytes = 0;
};

// Files appear whole or not at all.
Result<FleetExported> export_fleet_csv(fleet::Store& store, const std::filesystem::path& folder);

Result<FleetExported> export_fleet_sqlite(fleet::Store& store, const std::filesystem::path& file);

}  // namespace npuscope::jobs
