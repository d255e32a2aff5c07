// The tables of schema.hpp as ClickHouse has them, on each server of a store.
//
//   op_runs_rows   the rows, MergeTree in the order of the keys, and of which take they are
//   op_runs_here   a view: those of this server that count
//   op_runs        those of all servers: what SQL of users and questions without runs read
//   op_runs_all    all rows of all servers, for questions, which join them with the takes that
//   count
//
// Without a cluster there are op_runs_rows and the view op_runs. A take is one attempt to add one
// run: facts of several attempts may lie in op_runs_rows, those of one count
// (clickhouse_store.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/place/store_place.hpp"
#include "fleet/schema.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {

// Rows of a table as ClickHouse's native format has them: column by column, in compressed frames.
//
//   NativeBlock block(2, rows.size());
//   block.column(op, cells);                 // a column of the schema
//   block.column("take", takes);             // one of whole numbers that it does not have
//   compressed_frames(block.bytes())         // the body of INSERT … FORMAT Native
//
// A body is one block, which a server takes as a whole or not at all.

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

// Statements that make all that is missing, in an order in which the last one says that the tables
// are complete.
std::vector<std::string> create_statements(const ClickHouseAddress& address, bool is_replicated);

// "run,take,inference": of INSERT.
std::string inserted_columns(const Table& table);

std::string rows_of(std::string_view table);  // "op_runs_rows"
bool is_fact(const Table& table);

FactJoin clickhouse_join(const ClickHouseAddress& address);

// Columns of the tables of rows as system.columns has them: "op_runs_rows.run Int64", sorted.
std::vector<std::string> stored_columns();

// What the view `fleet_version` holds: version of the schema, and the cluster.
inline constexpr const char* version_view = "fleet_version";

}  // namespace npuscope::fleet
