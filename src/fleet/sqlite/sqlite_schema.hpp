// The tables of schema.hpp as SQLite makes and fills them.
//
//   create_sql(runs())     CREATE TABLE "runs"("id" INTEGER NOT NULL, …, PRIMARY KEY("id"))
//   insert_sql(…)          INSERT INTO "runs" VALUES(?,…)
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "fleet/schema.hpp"
#include "query/sqlite_output.hpp"

namespace npuscope::fleet {

struct SqliteStatement {
  std::string table;  // that it makes; empty: an index
  std::string sql;
};
const std::vector<SqliteStatement>& sqlite_statements();

std::string insert_sql(const TableText& table);

template <class T>
void bind_cell(query::SqliteInsert& insert, const T& cell) {
  if constexpr (std::is_same_v<T, std::string>) {
    insert.text(cell);
  } else {
    insert.number(cell);
  }
}
template <class T>
void bind_cell(query::SqliteInsert& insert, const std::optional<T>& cell) {
  cell ? bind_cell(insert, *cell) : insert.nothing();
}

template <class AnyTable, class Row>
void insert_row(query::SqliteInsert& insert, const AnyTable& table, const Row& row) {
  each_column(table, [&](const auto& column) { bind_cell(insert, row.*column.member); });
  insert.end_row();
}

}  // namespace npuscope::fleet
