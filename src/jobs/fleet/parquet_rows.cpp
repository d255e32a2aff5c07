#include "jobs/fleet/parquet_rows.hpp"

#include "base/json_writer.hpp"

namespace npuscope::jobs {
namespace {

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

}  // namespace

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

}  // namespace npuscope::jobs
