#include "npuscope/query/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/try.hpp"
#include "query/errors.hpp"
#include "query/functions.hpp"
#include "query/module.hpp"
#include "query/schema.hpp"
#include "query/sql_reader.hpp"

namespace npuscope::query {
namespace {

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

}  // namespace

struct Database::State {
  explicit State(const Limits& with) : limits(with) {}
  ~State() { sqlite3_close(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status open();
  Status add_tables(const std::string& schema);
  Status execute(const std::string& sql);

  Limits limits;
  TablesBySchema tables;  // outlives the database
  sqlite3* handle = nullptr;
  std::optional<SqlReader> reader;  // once all tables are there
};

Status Database::State::execute(const std::string& sql) {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(sql_error(handle, sql, limits, profile_catalogue()));
}

Status Database::State::open() {
  sqlite3_hard_heap_limit64(sqlite3_int64(limits.memory_bytes));
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
  if (sqlite3_open_v2(":memory:", &handle, flags, nullptr) != SQLITE_OK ||
      add_row_module(handle, tables) != SQLITE_OK ||
      add_pair_modules(handle, tables) != SQLITE_OK || add_functions(handle) != SQLITE_OK) {
    return tl::unexpected(sql_error(handle, "", limits, profile_catalogue()));
  }
  return execute("PRAGMA cache_size=-262144");  // what sorts take before they go to files
}

Status Database::State::add_tables(const std::string& schema) {
  std::string sql = "BEGIN;";
  for (const schema::Table& type : all_tables()) {
    sql += fmt::format("CREATE VIRTUAL TABLE {}.{} USING {};", schema, type.name, row_module_name);
  }
  for (const schema::Table& type : pair_tables()) {
    sql += fmt::format("CREATE VIRTUAL TABLE {}.{} USING {};", schema, type.name,
                       pair_module_of(type.name));
  }
  for (const TableInfo& view : views()) {
    sql += fmt::format("CREATE VIEW {}.{} AS {};", schema, view.name, view.view_of);
  }
  return execute(sql + "COMMIT");
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

bool is_complete(const std::string& sql) { return sqlite3_complete(sql.c_str()) != 0; }

Result<Database> Database::open(std::span<const NamedProfile> profiles, const Limits& limits) {
  TRY(check_names(profiles));
  auto state = std::make_unique<State>(limits);
  for (const NamedProfile& profile : profiles) {
    state->tables[profile.name] = std::make_shared<Tables>(*profile.profile);
  }
  state->tables["main"] = state->tables[profiles.front().name];
  TRY(state->open());
  TRY(state->add_tables("main"));
  for (const NamedProfile& profile : profiles) {
    Status added = state->execute(fmt::format("ATTACH ':memory:' AS {}", profile.name));
    if (added) added = state->add_tables(profile.name);
    if (!added) return tl::unexpected(added.error());
  }
  state->reader.emplace(state->handle, limits, profile_catalogue());
  return Database(std::move(state));
}

Status Database::run(std::string_view sql, RowSink& sink) { return state_->reader->run(sql, sink); }

}  // namespace npuscope::query
