#include "jobs/fleet/fleet_export.hpp"

#include "base/json_writer.hpp"
#include "base/text_output.hpp"
#include "base/try.hpp"
#include "fleet/questions/choice.hpp"
#include "fleet/schema.hpp"
#include "fleet/sqlite/sqlite_tables.hpp"
#include "formats/parquet/table_writer.hpp"
#include "jobs/export/export.hpp"
#include "jobs/export/file_by_name.hpp"
#include "npuscope/base/files.hpp"
#include "profile/csv_output.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::jobs {
namespace {

// Rows of a fleet's table, as a store hands them on, as a Parquet file. Types, units and meanings
// are those of the schema: the file says them as properties, `npuscope.column.work` = {"unit":
// "ticks", "kind": "work", …}.
class ParquetRows : public query::RowSink {
 public:
  ParquetRows(const fleet::Table& table, parquet::WriteBytes write);

  void columns(const std::vector<std::string>&) override {}
  bool row(std::span<const query::Cell> cells) override;

  // How many rows; an error where one was not what the schema says.
  Result<std::uint64_t> finish();

 private:
  std::string table_;
  parquet::TableWriter writer_;
  std::vector<parquet::Value> values_;
  Status done_;
};

parquet::Type type_of(const fleet::Column& column) {
  if (is_text(column.type)) return parquet::Type::text;
  return column.type == schema::Type::real ? parquet::Type::real : parquet::Type::integer;
}

std::vector<parquet::Column> columns_of(const fleet::Table& table) {
  std::vector<parquet::Column> columns;
  columns.reserve(table.columns.size());
  for (const fleet::Column& column : table.columns) {
    columns.push_back({column.name, type_of(column), column.is_nullable});
  }
  return columns;
}

parquet::Properties properties_of(const fleet::Table& table) {
  parquet::Properties said{{"npuscope.table", table.name},
                           {"npuscope.meaning", table.meaning},
                           {"npuscope.schema_version", std::to_string(fleet::schema_version)}};
  for (const fleet::Column& column : table.columns) {
    std::string about;
    JsonWriter json(about);
    json.begin_object();
    json.member("unit", name_of(column.unit));
    json.member("kind", column.kind);
    json.member("from", name_of(column.from));
    json.member("meaning", column.meaning);
    json.end_object();
    said.emplace_back(std::string("npuscope.column.") + column.name, about);
  }
  return said;
}

parquet::Value value_of(const query::Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* text = std::get_if<std::string_view>(&cell)) return *text;
  return {};
}

ParquetRows::ParquetRows(const fleet::Table& table, parquet::WriteBytes write)
    : table_(table.name), writer_(columns_of(table), properties_of(table), std::move(write)) {}

bool ParquetRows::row(std::span<const query::Cell> cells) {
  values_.clear();
  for (const query::Cell& cell : cells) values_.push_back(value_of(cell));
  done_ = writer_.row(values_);
  return done_.has_value();
}

Result<std::uint64_t> ParquetRows::finish() {
  if (done_) done_ = writer_.finish();
  if (!done_) {
    return tl::unexpected(
        Error{done_.error().kind, fmt::format("table {}: {}", table_, done_.error().message)});
  }
  return writer_.rows();
}

struct TableFile {
  AtomicFile& file;
  std::string_view select;
};

Result<std::uint64_t> write_csv(fleet::Store& store, const TableFile& of) {
  report::QueryCsv csv([&](std::string_view text) { of.file.write(text); }, {});
  TRY(store.run(of.select, csv));
  csv.finish();
  return csv.rows();
}

Result<std::uint64_t> write_parquet(fleet::Store& store, const fleet::Table& table,
                                    const TableFile& of) {
  ParquetRows rows(table, [&](std::string_view bytes) { of.file.write(bytes); });
  TRY(store.run(of.select, rows));
  return rows.finish();
}

Status export_table(fleet::Store& store, const fleet::Table& table, FleetFormat format,
                    const std::filesystem::path& folder, std::string_view runs,
                    FleetExported& exported) {
  const bool is_csv = format == FleetFormat::csv;
  TRY_AS(file, AtomicFile::create(folder / (table.name + (is_csv ? ".csv" : ".parquet"))));
  const std::string select = fleet::select_sql(table, runs);
  const TableFile of{*file, select};
  TRY_AS(rows, is_csv ? write_csv(store, of) : write_parquet(store, table, of));
  TRY(file->commit());
  exported.files += 1;
  exported.rows += *rows;
  exported.bytes += file->bytes_written();
  return {};
}

Result<FleetExported> export_tables(fleet::Store& store, FleetFormat format,
                                    const std::filesystem::path& folder, std::string_view runs) {
  TRY(make_folder(folder));
  FleetExported exported;
  for (const fleet::Table& table : fleet::schema()) {
    TRY(export_table(store, table, format, folder, runs, exported));
  }
  return exported;
}

Result<FleetExported> export_sqlite(fleet::Store& store, const std::filesystem::path& path,
                                    std::string_view runs) {
  TRY_AS(file, FileByName::create(path, "database"));
  const Status copied =
      runs.empty() ? store.copy_to(file->path()) : copy_to_sqlite(store, file->path(), runs);
  if (!copied) return tl::unexpected(copied.error());
  TRY_AS(bytes, file->commit());
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
