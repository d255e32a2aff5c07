#include "query/sql_reader.hpp"

#include <algorithm>
#include <memory>

#include "base/try.hpp"

namespace npuscope::query {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int longest_sql = 1 << 20;
constexpr int longest_value = 64 << 20;
constexpr int longest_like_pattern = 1'000;
constexpr int steps_between_looks = 10'000;  // of SQLite's machine, at the clock

bool is_one_of(const char* name, std::initializer_list<std::string_view> names) {
  return name != nullptr && std::find(names.begin(), names.end(), name) != names.end();
}

int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    // Asked for when a table function (json_each) is first named; writing is refused all the same,
    // by the schema being read only and the statement's own word.
    case SQLITE_UPDATE: return is_one_of(first, {"sqlite_master"}) ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
      return is_one_of(second, {"load_extension", "fts3_tokenizer", "sqlite_log"}) ? SQLITE_DENY
                                                                                   : SQLITE_OK;
    case SQLITE_PRAGMA:
      return is_one_of(first, {"table_info", "table_xinfo", "table_list", "database_list",
                               "function_list", "pragma_list", "compile_options"})
                 ? SQLITE_OK
                 : SQLITE_DENY;
    default: return SQLITE_DENY;
  }
}

int look_at_clock(void* deadline) {
  return SteadyClock::now() >= *static_cast<SteadyClock::time_point*>(deadline);
}

Cell cell_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return std::int64_t(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {  // as it lies: sqlite3_column_text() copies what no zero ends
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
      return text != nullptr
                 ? std::string_view(text, std::size_t(sqlite3_column_bytes(statement, column)))
                 : std::string_view();
    }
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement, column));
      return bytes != nullptr
                 ? ByteSpan(bytes, std::size_t(sqlite3_column_bytes(statement, column)))
                 : ByteSpan();
    }
    default: return std::monostate();
  }
}

}  // namespace

SqlReader::SqlReader(sqlite3* handle, const Limits& limits, const Catalogue& catalogue)
    : handle_(handle), limits_(limits), catalogue_(catalogue) {
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle_, SQLITE_LIMIT_SQL_LENGTH, longest_sql);
  sqlite3_limit(handle_, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(handle_, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_like_pattern);
  sqlite3_set_authorizer(handle_, authorize, nullptr);
  sqlite3_progress_handler(handle_, steps_between_looks, look_at_clock, &deadline_);
}

Status SqlReader::check_rest(std::string_view rest) {
  sqlite3_stmt* second = nullptr;
  const int prepared = sqlite3_prepare_v2(handle_, rest.data(), int(rest.size()), &second, nullptr);
  const Statement closes(second);
  if (prepared == SQLITE_OK && second == nullptr) return {};  // blanks and comments
  return usage_error("SQL: there is a second statement; a query is one");
}

Result<SqlReader::Statement> SqlReader::prepare(std::string_view sql) {
  if (sql.find('\0') != sql.npos) return usage_error("SQL: it has a zero byte; take it out");
  if (sql.size() > std::size_t(longest_sql)) {
    return usage_error("SQL: it is longer than {} KiB; shorten it", longest_sql >> 10);
  }
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int prepared = sqlite3_prepare_v2(handle_, sql.data(), int(sql.size()), &made, &rest);
  Statement statement(made);
  if (prepared != SQLITE_OK) return tl::unexpected(sql_error(handle_, sql, limits_, catalogue_));
  if (!statement) return usage_error("SQL: no statement; write SELECT ...");
  if (!sqlite3_stmt_readonly(statement.get()) || sqlite3_column_count(statement.get()) == 0) {
    return tl::unexpected(only_reads(catalogue_));
  }
  TRY(check_rest({rest, sql.data() + sql.size()}));
  if (sqlite3_bind_parameter_count(statement.get()) > 0) {
    return usage_error(
        "SQL: it has parameters (?, :name), which would be NULL; write their values");
  }
  return statement;
}

Status SqlReader::run(std::string_view sql, RowSink& sink) {
  deadline_ = SteadyClock::now() + limits_.time;
  TRY_AS(prepared, prepare(sql));
  sqlite3_stmt* statement = prepared->get();
  const int columns = sqlite3_column_count(statement);
  std::vector<std::string> names;
  for (int i = 0; i < columns; ++i) {
    const char* name = sqlite3_column_name(statement, i);
    names.emplace_back(name != nullptr ? name : "");
  }
  sink.columns(names);
  std::vector<Cell> cells(names.size());
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
    for (int i = 0; i < columns; ++i) cells[std::size_t(i)] = cell_of(statement, i);
    if (!sink.row(cells)) return {};
  }
  if (step != SQLITE_DONE) return tl::unexpected(sql_error(handle_, sql, limits_, catalogue_));
  return {};
}

}  // namespace npuscope::query
