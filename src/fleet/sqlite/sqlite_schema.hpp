// The tables of schema.hpp as SQLite makes and fills them.
//
//   create_sql(runs())     CREATE TABLE "runs"("id" INTEGER NOT NULL, …, PRIMARY KEY("id"))
//   insert_sql(…)          INSERT INTO "runs" VALUES(?,…)
#pragma once

#include <string>
#include <vector>

#include "fleet/schema.hpp"

namespace npuscope::fleet {

// In the header of every store's file.
inline constexpr int application_id = 0x6e707566;  // "npuf"

struct SqliteStatement {
  std::string table;  // that it makes; empty: an index
  std::string sql;
};
const std::vector<SqliteStatement>& sqlite_statements();

std::string insert_sql(const Table& table);

}  // namespace npuscope::fleet
