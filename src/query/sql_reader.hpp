// Reads a SQLite database and does nothing else to it: one SELECT at a time, within limits of time
// and of what SQLite itself can do.
//
//   SqlReader reader(handle, limits, catalogue);   // from here on the connection only reads
//   reader.run("SELECT name FROM ops", sink);
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "npuscope/query/database.hpp"
#include "query/errors.hpp"

namespace npuscope::query {

class SqlReader {
 public:
  // The connection must outlive it.
  SqlReader(sqlite3* handle, const Limits& limits, const Catalogue& catalogue);
  SqlReader(const SqlReader&) = delete;
  SqlReader& operator=(const SqlReader&) = delete;

  // As Database::run().
  Status run(std::string_view sql, RowSink& sink);

 private:
  struct CloseStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

  Result<Statement> prepare(std::string_view sql);
  Status check_rest(std::string_view rest);

  sqlite3* handle_;
  Limits limits_;
  const Catalogue& catalogue_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace npuscope::query
