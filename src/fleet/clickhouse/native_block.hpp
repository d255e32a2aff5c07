// Rows of a table as ClickHouse's native format has them: column by column, in compressed frames.
//
//   NativeBlock block(2, rows.size());
//   block.column(op, cells);                 // a column of the schema
//   block.column("take", takes);             // one of whole numbers that it does not have
//   compressed_frames(block.bytes())         // the body of INSERT … FORMAT Native
//
// A body is one block, which a server takes as a whole or not at all.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "fleet/schema.hpp"

namespace npuscope::fleet {

std::string clickhouse_type(const schema::Head& column);  // "Nullable(Float64)"

// Bytes that are not compressed yet.
class NativeBlock {
 public:
  NativeBlock(std::size_t columns, std::size_t rows);

  // With a cell for each row.
  void column(const schema::Head& head, std::span<const schema::Cell> cells);
  void column(std::string_view name, std::span<const Id> values);

  std::string_view bytes() const { return bytes_; }

 private:
  void length(std::size_t value);
  void text(std::string_view value);
  template <class T, class Values, class Of>
  void fixed(const Values& values, const Of& of);

  std::string bytes_;
};

// In frames of zstd, each of at most a mebibyte before.
std::string compressed_frames(std::string_view bytes);

}  // namespace npuscope::fleet
