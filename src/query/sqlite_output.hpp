// SQLite without its C interface, for one thread: statements with bound values, one error kept.
//
//   SqliteOutput database(path);
//   database.run("CREATE TABLE ops(id INTEGER PRIMARY KEY, name TEXT)");
//   SqliteInsert insert(database, "INSERT INTO ops VALUES(?,?)");
//   insert.number(1), insert.text("MatMul"), insert.end_row();
//   return database.close();     // "" or what went wrong first
#pragma once

#include <sqlite3.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace npuscope::query {

class SqliteOutput {
 public:
  explicit SqliteOutput(const std::filesystem::path& path) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path.c_str(), &database_, flags, nullptr) != SQLITE_OK) keep_error();
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
    if (!error_.empty()) return;
    error_ = sqlite3_errmsg(database_);
    code_ = sqlite3_errcode(database_);
  }
  std::string close() {
    if (sqlite3_close(database_) != SQLITE_OK) keep_error();
    database_ = nullptr;
    return error_;
  }
  bool good() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  int code() const { return code_; }  // of the error; SQLITE_OK without one
  sqlite3* handle() const { return database_; }

 private:
  sqlite3* database_ = nullptr;
  std::string error_;
  int code_ = SQLITE_OK;
};

class SqliteInsert {
 public:
  // `sql` ends with the values of a row, "(?,?)". Of so many rows to come, all of which must, most
  // are stored 16 at a time: a step costs as much as storing two rows.
  SqliteInsert(SqliteOutput& database, const std::string& sql, std::uint64_t rows = 0)
      : database_(database), rows_left_(rows), one_(prepared(sql)) {
    if (!is_of_many()) return;
    std::string many = sql;
    for (int i = 1; i < rows_at_once; ++i) many.append(",").append(sql, sql.rfind('('));
    many_ = prepared(many);
  }
  ~SqliteInsert() {
    sqlite3_finalize(one_);
    sqlite3_finalize(many_);
  }
  SqliteInsert(const SqliteInsert&) = delete;
  SqliteInsert& operator=(const SqliteInsert&) = delete;

  // The cells of a row one after the other, then end_row().
  void nothing() { sqlite3_bind_null(statement(), ++place_); }
  void boolean(bool value) { number(int(value)); }
  void number(std::integral auto value) {
    sqlite3_bind_int64(statement(), ++place_, sqlite3_int64(value));
  }
  void number(double value) { sqlite3_bind_double(statement(), ++place_, value); }  // NaN: NULL
  void text(std::string_view text) { bind(text, SQLITE_STATIC); }  // outlives the step
  void copy(std::string_view text) { bind(text, SQLITE_TRANSIENT); }

  void end_row() {
    if (++rows_bound_ < (is_of_many() ? rows_at_once : 1)) return;
    if (database_.good()) {
      if (sqlite3_step(statement()) != SQLITE_DONE) database_.keep_error();
      sqlite3_reset(statement());
    }
    rows_left_ -= is_of_many() ? rows_at_once : 0;
    place_ = rows_bound_ = 0;
  }

 private:
  static constexpr int rows_at_once = 16;

  bool is_of_many() const { return rows_left_ >= rows_at_once; }
  sqlite3_stmt* statement() const { return is_of_many() ? many_ : one_; }
  sqlite3_stmt* prepared(const std::string& sql) {
    sqlite3_stmt* made = nullptr;
    if (database_.good() &&
        sqlite3_prepare_v2(database_.handle(), sql.c_str(), -1, &made, nullptr) != SQLITE_OK) {
      database_.keep_error();
    }
    return made;
  }
  // A length beyond SQLite's is an error of the step.
  void bind(std::string_view text, sqlite3_destructor_type lifetime) {
    const auto bound =
        sqlite3_bind_text64(statement(), ++place_, text.data() != nullptr ? text.data() : "",
                            text.size(), lifetime, SQLITE_UTF8);
    if (bound != SQLITE_OK) database_.keep_error();
  }

  SqliteOutput& database_;
  std::uint64_t rows_left_;
  sqlite3_stmt *one_, *many_ = nullptr;
  int place_ = 0, rows_bound_ = 0;
};

}  // namespace npuscope::query
