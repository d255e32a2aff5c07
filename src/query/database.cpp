#include "npuscope/query/database.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <optional>
#include <ranges>

#include "base/text.hpp"
#include "base/try.hpp"
#include "query/errors.hpp"
#include "query/functions.hpp"
#include "query/module.hpp"
#include "query/schema.hpp"
#include "query/sql_reader.hpp"

namespace npuscope::query {
namespace {

bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= 64 && !is_digit(name[0]) &&
         std::all_of(name.begin(), name.end(), is_of_word);
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
    const std::string name = in_small_letters(profile.name);
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

struct Declared {
  std::string name;
  const char* what;
  std::string definition;
};

const std::vector<Declared>& all_declared() {
  static const std::vector<Declared> all = [] {
    std::vector<Declared> made;
    const auto add_table = [&](const schema::Table& type, const char* module) {
      made.push_back({type.name, "VIRTUAL TABLE", fmt::format("USING {}", module)});
    };
    for (const schema::Table& type : all_tables()) add_table(type, row_module_name);
    for (const schema::Table& type : pair_tables()) add_table(type, pair_module_of(type.name));
    for (const TableInfo& view : views()) {
      made.push_back({view.name, "VIEW", fmt::format("AS {}", view.view_of)});
    }
    return made;
  }();
  return all;
}

// Whether a statement may see more of the database than the tables that it names: SQLite's own
// tables and functions of schemas, pages and programs.
bool sees_all(const Words& words) {
  constexpr std::string_view begins[] = {"explain",  "pragma",      "sqlite_",   "dbstat",
                                         "bytecode", "tables_used", "rtreecheck"};
  return std::ranges::any_of(words, [&](std::string_view word) {
    return std::ranges::any_of(begins,
                               [&](std::string_view each) { return word.starts_with(each); });
  });
}

}  // namespace

struct Database::State {
  State(std::span<const NamedProfile> profiles, const Limits& with);
  ~State() { sqlite3_close(handle); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // SQLite is told what this statement names and those before it: all tables and views take as long
  // as reading a small file.
  Status declare_for(std::string_view sql);
  Status open();
  Status execute(const std::string& sql);

  Limits limits;
  TablesBySchema tables;             // outlives the database
  std::vector<std::string> schemas;  // of the profiles, in their order
  Words declared;                    // of schemas, tables and views
  sqlite3* handle = nullptr;
  std::optional<SqlReader> reader;  // once the tables are there
};

Database::State::State(std::span<const NamedProfile> profiles, const Limits& with) : limits(with) {
  for (const NamedProfile& profile : profiles) {
    tables[profile.name] = std::make_shared<Tables>(*profile.profile);
    schemas.push_back(profile.name);
  }
  tables["main"] = tables[profiles.front().name];
}

Status Database::State::execute(const std::string& sql) {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return tl::unexpected(sql_error(handle, sql, limits, profile_catalogue()));
}

Status Database::State::declare_for(std::string_view sql) {
  Words words = words_of(sql);
  const bool all = sees_all(words);
  for (const TableInfo& view : views() | std::views::reverse) {
    if (words.contains(view.name)) words.merge(words_of(view.view_of));
  }
  std::size_t added = 0;
  const auto add = [&](const std::string& name) {
    if (all || words.contains(name)) added += declared.insert(name).second;
  };
  for (const std::string& schema : schemas) add(in_small_letters(schema));
  for (const Declared& each : all_declared()) add(each.name);
  if (reader && added == 0) return {};
  // Anew, so that tables stand in the order of the documentation.
  reader.reset();
  sqlite3_close(handle);
  handle = nullptr;
  TRY(open());
  reader.emplace(handle, limits, profile_catalogue());
  return {};
}

Status Database::State::open() {
  sqlite3_hard_heap_limit64(sqlite3_int64(limits.memory_bytes));
  // One thread at a time asks: without a mutex, which each value of each row would take.
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(":memory:", &handle, flags, nullptr) != SQLITE_OK ||
      add_row_module(handle, tables) != SQLITE_OK ||
      add_pair_modules(handle, tables) != SQLITE_OK || add_functions(handle) != SQLITE_OK) {
    return tl::unexpected(sql_error(handle, "", limits, profile_catalogue()));
  }
  std::string sql = "PRAGMA cache_size=-262144;";  // what sorts take before they go to files
  const auto add_tables = [&](std::string_view schema) {
    sql += "BEGIN;";
    for (const Declared& each : all_declared()) {
      if (!declared.contains(each.name)) continue;
      sql += fmt::format("CREATE {} {}.{} {};", each.what, schema, each.name, each.definition);
    }
    sql += "COMMIT;";
  };
  add_tables("main");
  for (const std::string& schema : schemas) {
    if (!declared.contains(in_small_letters(schema))) continue;
    sql += fmt::format("ATTACH ':memory:' AS {};", schema);
    add_tables(schema);
  }
  return execute(sql);
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

bool is_complete(const std::string& sql) { return sqlite3_complete(sql.c_str()) != 0; }

Result<Database> Database::open(std::span<const NamedProfile> profiles, const Limits& limits) {
  TRY(check_names(profiles));
  return Database(std::make_unique<State>(profiles, limits));
}

Status Database::run(std::string_view sql, RowSink& sink) {
  TRY(state_->declare_for(sql));
  return state_->reader->run(sql, sink);
}

}  // namespace npuscope::query
