#include "formats/ascend/database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace npuscope::ascend {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

// As a path stands in a URI: what has a meaning there is escaped.
std::string uri_of(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool is_plain = is_of_word(c) || c == '/' || c == '.' || c == '-';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?mode=ro&immutable=1";
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

Statement prepare(sqlite3* handle, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(handle, sql.c_str(), int(sql.size()), &statement, nullptr);
  return Statement(statement);
}

}  // namespace

std::optional<std::int64_t> Row::integer(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement_, column);
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(statement_, column);
      constexpr double most = 9e18;
      if (!(std::abs(value) < most)) return std::nullopt;
      return std::llround(value);
    }
    case SQLITE_TEXT: return parse_number<std::int64_t>(text(column));
    default: return std::nullopt;
  }
}

std::optional<double> Row::number(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_TEXT) return parse_number<double>(text(column));
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}

std::string_view Row::text(int column) const {
  const auto* const bytes = sqlite3_column_text(statement_, column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          std::size_t(sqlite3_column_bytes(statement_, column))};
}

Result<Database> Database::open(const std::filesystem::path& path) {
  Database database;
  database.name_ = path.string();
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(uri_of(path).c_str(), &handle,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) {
    return input_error("{}: a SQLite database that cannot be opened ({})", database.name_,
                       sqlite3_errstr(code));
  }
  for (const int feature :
       {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_ENABLE_FKEY}) {
    sqlite3_db_config(handle, feature, 0, nullptr);
  }
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  constexpr int longest_value = 1 << 20, longest_sql = 1 << 16;
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, longest_sql);
  std::error_code failed;
  const std::uint64_t bytes = std::filesystem::file_size(path, failed);
  constexpr std::uint64_t fewest_bytes_a_row = 4;  // its place in the page, its length, its id
  database.rows_left_ = failed ? 0 : bytes / fewest_bytes_a_row;
  return database;
}

// Of real tables only: a virtual one has no page, and a generated column computes what it likes.
std::vector<std::string> Database::columns_of(std::string_view table) const {
  std::vector<std::string> columns;
  const Statement is_table = prepare(
      handle_.get(), "SELECT 1 FROM sqlite_master WHERE type='table' AND rootpage>0 AND name=?1");
  if (!is_table) return columns;
  sqlite3_bind_text(is_table.get(), 1, table.data(), int(table.size()), SQLITE_STATIC);
  if (sqlite3_step(is_table.get()) != SQLITE_ROW) return columns;
  const Statement info =
      prepare(handle_.get(), fmt::format("PRAGMA table_xinfo({})", quoted(table)));
  while (info && sqlite3_step(info.get()) == SQLITE_ROW) {
    constexpr int name = 1, hidden = 6;
    if (sqlite3_column_int(info.get(), hidden) != 0) continue;
    columns.emplace_back(Row(info.get()).text(name));
  }
  return columns;
}

bool Database::has_table(std::string_view table) const { return !columns_of(table).empty(); }

Status Database::each(std::string_view table, std::initializer_list<std::string_view> columns,
                      const std::function<void(const Row&)>& take) {
  const std::vector<std::string> has = columns_of(table);
  if (has.empty()) return {};
  std::string sql;
  for (std::string_view names : columns) {
    std::string column = "NULL";
    while (!names.empty()) {
      const std::string_view name = names.substr(0, names.find('|'));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      if (std::ranges::find(has, name) == has.end()) continue;
      column = quoted(name);
      break;
    }
    sql += (sql.empty() ? "SELECT " : ", ") + column;
  }
  sql += fmt::format(" FROM {} NOT INDEXED", quoted(table));
  const Statement statement = prepare(handle_.get(), sql);
  int code = statement ? SQLITE_ROW : SQLITE_ERROR;
  while (statement && (code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    if (rows_left_ == 0) {
      return input_error("{}: table {} has more rows than the file has bytes for: it is damaged",
                         name_, table);
    }
    --rows_left_;
    take(Row(statement.get()));
  }
  if (code == SQLITE_DONE) return {};
  return input_error("{}: table {} cannot be read to its end ({})", name_, table,
                     sqlite3_errmsg(handle_.get()));
}

bool looks_like_database(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

}  // namespace npuscope::ascend
