#include "jobs/fleet/fleet_export.hpp"

#include <cmath>

#include "base/text_output.hpp"
#include "fleet/schema.hpp"
#include "npuscope/base/files.hpp"
#include "profile/csv_output.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::jobs {
namespace {

Status export_table(fleet::Store& store, const fleet::TableText& table,
                    const std::filesystem::path& path, FleetExported& exported) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  report::QueryCsv csv([&](std::string_view text) { file->write(text); }, {});
  std::string keys;
  for (const fleet::ColumnText& column : table.columns) {
    if (column.is_key) keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", column.name);
  }
  const Status done =
      store.run(fmt::format("SELECT * FROM \"{}\" ORDER BY {}", table.name, keys), csv);
  if (!done) return tl::unexpected(done.error());
  csv.finish();
  if (const Status written = file->commit(); !written) return tl::unexpected(written.error());
  exported.files += 1;
  exported.rows += csv.rows();
  exported.bytes += file->bytes_written();
  return {};
}

}  // namespace

Result<FleetExported> export_fleet_csv(fleet::Store& store, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return output_error("{}: the folder cannot be made ({}); name another", folder.string(),
                        failed.message());
  }
  FleetExported exported;
  for (const fleet::TableText& table : fleet::schema()) {
    const Status done = export_table(store, table, folder / (table.name + ".csv"), exported);
    if (!done) return tl::unexpected(done.error());
  }
  return exported;
}

Result<FleetExported> export_fleet_sqlite(fleet::Store& store, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (file->temporary_path().empty()) {
    return output_error("{}: a database cannot be written to a pipe or device; name a file",
                        path.string());
  }
  if (const Status copied = store.copy_to(file->temporary_path()); !copied) {
    return tl::unexpected(copied.error());
  }
  if (const Status written = file->commit(); !written) return tl::unexpected(written.error());
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  return FleetExported{1, 0, unknown ? 0 : std::uint64_t(bytes)};
}

}  // namespace npuscope::jobs
