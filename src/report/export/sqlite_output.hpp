// SQLite without its C interface: statements with bound values, one error kept to the end.
//
//   SqliteOutput database(path);
//   database.run("CREATE TABLE ops(id INTEGER PRIMARY KEY, name TEXT)");
//   SqliteInsert insert(database, "INSERT INTO ops VALUES(?,?)");
//   insert.row(1, std::string_view("MatMul"));
//   return database.close();     // "" or what went wrong first
#pragma once

#include <sqlite3.h>

#include <cmath>
#include <concepts>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace npuscope::report {

class SqliteOutput {
 public:
  explicit SqliteOutput(const std::filesystem::path& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) keep_error();
  }
  ~SqliteOutput() { sqlite3_close(database_); }
  SqliteOutput(const SqliteOutput&) = delete;
  SqliteOutput& operator=(const SqliteOutput&) = delete;

  void run(const char* sql) {
    if (error_.empty() && sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      keep_error();
    }
  }
  void keep_error() {
    if (error_.empty()) error_ = sqlite3_errmsg(database_);
  }
  std::string close() {
    if (sqlite3_close(database_) != SQLITE_OK) keep_error();
    database_ = nullptr;
    return error_;
  }
  bool good() const { return error_.empty(); }
  sqlite3* handle() const { return database_; }

 private:
  sqlite3* database_ = nullptr;
  std::string error_;
};

class SqliteInsert {
 public:
  SqliteInsert(SqliteOutput& database, const char* sql) : database_(database) {
    if (database_.good() &&
        sqlite3_prepare_v2(database_.handle(), sql, -1, &statement_, nullptr) != SQLITE_OK) {
      database_.keep_error();
    }
  }
  ~SqliteInsert() { sqlite3_finalize(statement_); }
  SqliteInsert(const SqliteInsert&) = delete;
  SqliteInsert& operator=(const SqliteInsert&) = delete;

  template <class... Values>
  void row(const Values&... values) {
    if (!database_.good()) return;
    int place = 0;
    (bind(++place, values), ...);
    if (sqlite3_step(statement_) != SQLITE_DONE) database_.keep_error();
    sqlite3_reset(statement_);
  }

 private:
  void bind(int place, std::integral auto value) {
    sqlite3_bind_int64(statement_, place, sqlite3_int64(value));
  }
  // NaN becomes NULL in SQLite.
  void bind(int place, double value) { sqlite3_bind_double(statement_, place, value); }
  // Texts outlive the step that stores them. A length beyond SQLite's is an error of the step.
  void bind(int place, std::string_view text) {
    const auto bound =
        sqlite3_bind_text64(statement_, place, text.data() != nullptr ? text.data() : "",
                            text.size(), SQLITE_STATIC, SQLITE_UTF8);
    if (bound != SQLITE_OK) database_.keep_error();
  }
  void bind(int place, const char* text) { bind(place, std::string_view(text)); }
  template <class Value>
  void bind(int place, const std::optional<Value>& value) {
    if (value) {
      bind(place, *value);
    } else {
      sqlite3_bind_null(statement_, place);
    }
  }

  SqliteOutput& database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace npuscope::report
