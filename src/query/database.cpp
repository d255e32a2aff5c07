#include "npuscope/query/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>

#include "query/errors.hpp"
#include "query/functions.hpp"
#include "query/module.hpp"
#include "query/schema.hpp"
#include "query/views.hpp"

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

bool is_identifier(std::string_view name) {
  const auto is_word = [](unsigned char c) { return c < 0x80 && (std::isalnum(c) || c == '_'); };
  return !name.empty() && name.size() <= 64 && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), is_word);
}

Status check_names(std::span<const NamedProfile> profiles) {
  if (profiles.empty()) return usage_error("no profile to query");
  if (profiles.size() > max_profiles) {
    return usage_error("{} profiles are more than one query can take; name {} at most",
                       profiles.size(), max_profiles);
  }
  std::vector<std::string> known;
  for (const NamedProfile& profile : profiles) {
    if (!is_identifier(profile.name)) {
      return usage_error(
          "'{}' is not a name for a profile; take letters, digits and _, no digit first",
          profile.name);
    }
    std::string name = profile.name;
    for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
    if (name == "main" || name == "temp") {
      return usage_error("a profile cannot be called '{}', which is SQLite's own; take another",
                         profile.name);
    }
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      return usage_error("two profiles are called '{}'; give each its own name", profile.name);
    }
    known.push_back(name);
  }
  return {};
}

struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

Cell cell_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return std::int64_t(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
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

struct Database::State {
  explicit State(const Limits& with) : limits(with) {}
  ~State() { sqlite3_close(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status open();
  Status add_tables(const std::string& schema);
  void restrict();
  Result<Statement> prepare(std::string_view sql);
  Status check_rest(std::string_view rest);
  Status execute(const std::string& sql);

  Limits limits;
  TablesBySchema tables;  // outlives the database
  sqlite3* handle = nullptr;
  SteadyClock::time_point deadline;
};

Status Database::State::execute(const std::string& sql) {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(sql_error(handle, sql, limits));
}

Status Database::State::open() {
  sqlite3_hard_heap_limit64(sqlite3_int64(limits.memory_bytes));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
  if (sqlite3_open_v2(":memory:", &handle, flags, nullptr) != SQLITE_OK ||
      add_row_module(handle, tables) != SQLITE_OK ||
      add_pair_modules(handle, tables) != SQLITE_OK || add_functions(handle) != SQLITE_OK) {
    return tl::unexpected(sql_error(handle, "", limits));
  }
  return execute("PRAGMA cache_size=-262144");  // what sorts take before they go to files
}

Status Database::State::add_tables(const std::string& schema) {
  std::string sql = "BEGIN;";
  for (const TableType& type : all_tables()) {
    sql += fmt::format("CREATE VIRTUAL TABLE {}.{} USING {};", schema, type.name, row_module_name);
  }
  for (const TableType& type : pair_tables()) {
    sql += fmt::format("CREATE VIRTUAL TABLE {}.{} USING {};", schema, type.name,
                       pair_module_of(type.name));
  }
  for (const TableInfo& view : views()) {
    sql += fmt::format("CREATE VIEW {}.{} AS {};", schema, view.name, view.view_of);
  }
  return execute(sql + "COMMIT");
}

// From here on nothing but reading.
void Database::State::restrict() {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, longest_sql);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_like_pattern);
  sqlite3_set_authorizer(handle, authorize, nullptr);
  sqlite3_progress_handler(handle, steps_between_looks, look_at_clock, &deadline);
}

Status Database::State::check_rest(std::string_view rest) {
  sqlite3_stmt* second = nullptr;
  const int prepared = sqlite3_prepare_v2(handle, rest.data(), int(rest.size()), &second, nullptr);
  const Statement closes(second);
  if (prepared == SQLITE_OK && second == nullptr) return {};  // blanks and comments
  return usage_error("SQL: there is a second statement; a query is one");
}

Result<Statement> Database::State::prepare(std::string_view sql) {
  if (sql.find('\0') != sql.npos) return usage_error("SQL: it has a zero byte; take it out");
  if (sql.size() > std::size_t(longest_sql)) {
    return usage_error("SQL: it is longer than {} KiB; shorten it", longest_sql >> 10);
  }
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int prepared = sqlite3_prepare_v2(handle, sql.data(), int(sql.size()), &made, &rest);
  Statement statement(made);
  if (prepared != SQLITE_OK) return tl::unexpected(sql_error(handle, sql, limits));
  if (!statement) return usage_error("SQL: no statement; write SELECT ...");
  if (!sqlite3_stmt_readonly(statement.get()) || sqlite3_column_count(statement.get()) == 0) {
    return tl::unexpected(only_reads());
  }
  if (const Status alone = check_rest({rest, sql.data() + sql.size()}); !alone) {
    return tl::unexpected(alone.error());
  }
  if (sqlite3_bind_parameter_count(statement.get()) > 0) {
    return usage_error(
        "SQL: it has parameters (?, :name), which would be NULL; write their values");
  }
  return statement;
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

bool is_complete(const std::string& sql) { return sqlite3_complete(sql.c_str()) != 0; }

Result<Database> Database::open(std::span<const NamedProfile> profiles, const Limits& limits) {
  if (const Status named = check_names(profiles); !named) return tl::unexpected(named.error());
  auto state = std::make_unique<State>(limits);
  for (const NamedProfile& profile : profiles) {
    state->tables[profile.name] = std::make_shared<Tables>(*profile.profile);
  }
  state->tables["main"] = state->tables[profiles.front().name];
  if (const Status opened = state->open(); !opened) return tl::unexpected(opened.error());
  if (const Status added = state->add_tables("main"); !added) return tl::unexpected(added.error());
  for (const NamedProfile& profile : profiles) {
    Status added = state->execute(fmt::format("ATTACH ':memory:' AS {}", profile.name));
    if (added) added = state->add_tables(profile.name);
    if (!added) return tl::unexpected(added.error());
  }
  state->restrict();
  return Database(std::move(state));
}

Status Database::run(std::string_view sql, RowSink& sink) {
  state_->deadline = SteadyClock::now() + state_->limits.time;
  const auto prepared = state_->prepare(sql);
  if (!prepared) return tl::unexpected(prepared.error());
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
  if (step != SQLITE_DONE) return tl::unexpected(sql_error(state_->handle, sql, state_->limits));
  return {};
}

}  // namespace npuscope::query
