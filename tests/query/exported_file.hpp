// The SQLite file that convert writes of a profile, asked with SQLite alone:
//
//   const ExportedFile file(profile);
//   file.rows("SELECT * FROM spans").rows[0]
#pragma once

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "jobs/export/export.hpp"
#include "query/rows.hpp"

namespace npuscope::test_support {

class ExportedFile {
 public:
  explicit ExportedFile(const Profile& profile)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("npuscope-query-{}.db", ::getpid())) {
    const auto written = jobs::write_sqlite(profile, path_);
    require(written ? SQLITE_OK : SQLITE_ERROR, "writing the file");
    require(sqlite3_open(path_.c_str(), &database_), "opening the file");
  }
  ~ExportedFile() {
    sqlite3_close(database_);
    std::filesystem::remove(path_);
  }
  ExportedFile(const ExportedFile&) = delete;
  ExportedFile& operator=(const ExportedFile&) = delete;

  Rows rows(const std::string& sql) const {
    sqlite3_stmt* statement = nullptr;
    require(sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr), sql);
    Rows rows;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      rows.names.emplace_back(sqlite3_column_name(statement, i));
    }
    while (sqlite3_step(statement) == SQLITE_ROW) rows.row(cells_of(statement));
    sqlite3_finalize(statement);
    return rows;
  }

 private:
  // Ends the program: there is nothing to compare then.
  void require(int status, const std::string& what) const {
    if (status == SQLITE_OK) return;
    fmt::print(stderr, "{}: {}\n", what, database_ ? sqlite3_errmsg(database_) : "failed");
    std::abort();
  }
  static std::vector<query::Cell> cells_of(sqlite3_stmt* statement) {
    std::vector<query::Cell> cells;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER:
          cells.emplace_back(std::int64_t(sqlite3_column_int64(statement, i)));
          break;
        case SQLITE_FLOAT: cells.emplace_back(sqlite3_column_double(statement, i)); break;
        case SQLITE_TEXT:
          cells.emplace_back(
              std::string_view(reinterpret_cast<const char*>(sqlite3_column_text(statement, i)),
                               std::size_t(sqlite3_column_bytes(statement, i))));
          break;
        default: cells.emplace_back(); break;
      }
    }
    return cells;
  }

  std::filesystem::path path_;
  sqlite3* database_ = nullptr;
};

}  // namespace npuscope::test_support
