// The tables of schema.hpp as SQLite makes and fills them.
//
//   create_sql(runs())     CREATE TABLE "runs"("id" INTEGER NOT NULL, …, PRIMARY KEY("id"))
//   insert_sql(…)          INSERT INTO "runs" VALUES(?,…)
#pragma once

#include <string>
#include <vector>

#include "fleet/schema.hpp"

namespace npuscope::fleet {

struct SqliteStatement {
  std::string table;  // that it makes; empty: an index
  std::string sql;
};
const std::vector<SqliteStatement>& sqlite_statements();

std::string insert_sql(const Table& table);

}  // namespace npuscope::fleet
