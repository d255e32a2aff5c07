// Whole profiles for other programs: a table file, a database, a JSON document.
//
//   write_csv(profile, "spans.csv")        // the spans with their names; without spans the numbers
//   write_csv(profile, "tables/")          // every table that has rows, one file each
//   write_sqlite(profile, "profile.db")    // every table, indexes, views with names
//   write_json(profile, "profile.json")    // every table, in columns
//
// `progress` counts rows. Schemas: docs/formats/exports.md. Files appear whole or not at all. A
// cell of CSV that a spreadsheet would take for a formula gets an apostrophe in front.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/profile/losses.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::jobs {

struct ExportedTable {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
};

struct Exported {
  Losses losses;
  std::uint64_t bytes = 0;              // of all its files, pipes too
  std::vector<ExportedTable> tables{};  // of a folder
};

// A path that ends in a separator, or is a folder, takes all tables; the folder is made if missing.
Result<Exported> write_csv(const Profile& profile, const std::filesystem::path& path,
                           const ProgressReport& progress = {});

Status make_folder(const std::filesystem::path& folder);  // unless it is there

// Those that it may write into a folder.
std::vector<std::string> csv_file_names();

Result<Exported> write_sqlite(const Profile& profile, const std::filesystem::path& path,
                              const ProgressReport& progress = {});

Result<Exported> write_json(const Profile& profile, const std::filesystem::path& path,
                            const ProgressReport& progress = {});

}  // namespace npuscope::jobs
