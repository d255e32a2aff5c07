// A fleet's store as files for other tools: a copy of the SQLite file, or a folder of CSV or
// Parquet files, one a table, with the columns of docs/fleet.md.
#pragma once

#include <filesystem>
#include <string>

#include "fleet/store.hpp"

namespace npuscope::jobs {

struct FleetExported {
  std::uint64_t files = 0;
  std::uint64_t rows = 0;  // of files that are a table
  std::uint64_t bytes = 0;
};

enum class FleetFormat : std::uint8_t { csv, parquet, sqlite };

// Of csv and parquet `output` is a folder, which is made where it is missing. Files appear whole or
// not at all. `where` chooses runs, damaged ones too, as in pages; empty: all.
Result<FleetExported> export_fleet(fleet::Store& store, FleetFormat format,
                                   const std::filesystem::path& output,
                                   const std::string& where = {});

}  // namespace npuscope::jobs
