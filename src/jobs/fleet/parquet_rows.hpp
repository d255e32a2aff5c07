// Rows of a fleet's table, as a store hands them on, as a Parquet file. Types, units and meanings
// are those of the schema: the file says them as properties, `npuscope.column.work` = {"unit":
// "ticks", "kind": "work", …}.
#pragma once

#include "fleet/schema.hpp"
#include "formats/parquet/table_writer.hpp"

namespace npuscope::jobs {

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

}  // namespace npuscope::jobs
