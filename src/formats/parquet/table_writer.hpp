// A table as an Apache Parquet file: groups of rows, in each of these a compressed chunk of every
// column, and at the end what there is and where.
//
//   TableWriter table({{"run", Type::integer}, {"work", Type::real, true}}, {{"npuscope.table",
//   "op_runs"}},
//                     [&](std::string_view bytes) { file.write(bytes); });
//   table.row({{Value(812), Value(32'707.0)}});
//   table.finish();
//
// What it takes: a group of rows, 122,880 or 64 MB of them. Pages are compressed with zstd; numbers
// of a dictionary where that is shorter. Each chunk says its minimum, maximum and number of NULLs,
// so that readers leave groups out. Sources: the Parquet project's README.md and parquet.thrift,
// version 2.10.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/parquet/column_values.hpp"
#include "formats/parquet/compact_protocol.hpp"

namespace npuscope::parquet {

using WriteBytes = std::function<void(std::string_view)>;
using Properties = std::vector<std::pair<std::string, std::string>>;  // key, value

class TableWriter {
 public:
  TableWriter(std::vector<Column> columns, Properties properties, WriteBytes write);

  // A value for each column. An input error that names the column where it cannot hold the value.
  Status row(std::span<const Value> values);

  // The rest, and the end of the file.
  Status finish();

  std::uint64_t rows() const { return rows_; }

 private:
  void write(std::string_view bytes);
  Status write_group();
  CompactStruct write_chunk(const Column& column, const Chunk& chunk);
  std::vector<CompactStruct> schema() const;

  std::vector<ColumnValues> columns_;
  Properties properties_;
  WriteBytes write_;
  std::uint64_t offset_ = 0;  // in the file
  std::uint64_t rows_ = 0;
  std::int64_t rows_of_group_ = 0;
  std::vector<CompactStruct> groups_;
};

}  // namespace npuscope::parquet
