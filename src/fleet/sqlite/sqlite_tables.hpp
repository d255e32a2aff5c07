// The tables of schema.hpp as SQLite makes and fills them.
//
//   create_sql(runs())     CREATE TABLE "runs"("id" INTEGER NOT NULL, …, PRIMARY KEY("id"))
//   insert_sql(…)          INSERT INTO "runs" VALUES(?,…)
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "fleet/schema.hpp"
#include "fleet/store.hpp"

namespace npuscope::fleet {

struct SqliteStatement {
  std::string table;  // that it makes; empty: an index
  std::string sql;
};
const std::vector<SqliteStatement>& sqlite_statements();

std::string insert_sql(const Table& table);

// A store of any engine as one SQLite file, which a SQLite store then opens.

// Of all runs, or of those of a table of SQL (select_sql()). The file must be missing or empty.
// What is there after an error is no store.
Status copy_to_sqlite(Store& store, const std::filesystem::path& file, std::string_view runs = {});

}  // namespace npuscope::fleet
