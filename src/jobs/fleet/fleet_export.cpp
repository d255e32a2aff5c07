#include "jobs/fleet/fleet_export.hpp"

#include "base/text_output.hpp"
#include "fleet/questions/choice.hpp"
#include "fleet/schema.hpp"
#include "fleet/sqlite/sqlite_copy.hpp"
#include "jobs/export/file_by_name.hpp"
#include "jobs/fleet/parquet_rows.hpp"
#include "npuscope/base/files.hpp"
#include "profile/csv_output.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::jobs {
namespace {

struct TableFile {
  AtomicFile& file;
  std::string_view select;
};

Result<std::uint64_t> write_csv(fleet::Store& store, const TableFile& of) {
  report::QueryCsv csv([&](std::string_view text) { of.file.write(text); }, {});
  const Status done = store.run(of.select, csv);
  if (!done) return tl::unexpected(done.error());
  csv.finish();
  return csv.rows();
}

Result<std::uint64_t> write_parquet(fleet::Store& store, const fleet::Table& table,
                                    const TableFile& of) {
  ParquetRows rows(table, [&](std::string_view bytes) { of.file.write(bytes); });
  const Status done = store.run(of.select, rows);
  if (!done) return tl::unexpected(done.error());
  return rows.finish();
}

Status export_table(fleet::Store& store, const fleet::Table& table, FleetFormat format,
                    const std::filesystem::path& folder, std::string_view runs,
                    FleetExported& exported) {
  const bool is_csv = format == FleetFormat::csv;
  auto file = AtomicFile::create(folder / (table.name + (is_csv ? ".csv" : ".parquet")));
  if (!file) return tl::unexpected(file.error());
  const std::string select = fleet::select_sql(table, runs);
  const TableFile of{*file, select};
  const auto rows = is_csv ? write_csv(store, of) : write_parquet(store, table, of);
  if (!rows) return tl::unexpected(rows.error());
  if (const Status written = file->commit(); !written) return tl::unexpected(written.error());
  exported.files += 1;
  exported.rows += *rows;
  exported.bytes += file->bytes_written();
  return {};
}

Result<FleetExported> export_tables(fleet::Store& store, FleetFormat format,
                                    const std::filesystem::path& folder, std::string_view runs) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return output_error("{}: the folder cannot be made ({}); name another", folder.string(),
                        failed.message());
  }
  FleetExported exported;
  for (const fleet::Table& table : fleet::schema()) {
    const Status done = export_table(store, table, format, folder, runs, exported);
    if (!done) return tl::unexpected(done.error());
  }
  return exported;
}

Result<FleetExported> export_sqlite(fleet::Store& store, const std::filesystem::path& path,
                                    std::string_view runs) {
  auto file = FileByName::create(path, "database");
  if (!file) return tl::unexpected(file.error());
  const Status copied =
      runs.empty() ? store.copy_to(file->path()) : copy_to_sqlite(store, file->path(), runs);
  if (!copied) return tl::unexpected(copied.error());
  const Result<std::uint64_t> bytes = file->commit();
  if (!bytes) return tl::unexpected(bytes.error());
  return FleetExported{1, 0, *bytes};
}

}  // namespace

Result<FleetExported> export_fleet(fleet::Store& store, FleetFormat format,
                                   const std::filesystem::path& output, const std::string& where) {
  std::string runs;
  if (!where.empty()) {
    const auto chosen = fleet::ChosenRuns::of(store, {where, {}}, fleet::DamagedRuns::included);
    if (!chosen) return tl::unexpected(chosen.error());
    runs = chosen->sql();
  }
  return format == FleetFormat::sqlite ? export_sqlite(store, output, runs)
                                       : export_tables(store, format, output, runs);
}

}  // namespace npuscope::jobs
