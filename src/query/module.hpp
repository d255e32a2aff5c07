// The modules of virtual tables, as SQLite knows them:
//
//   CREATE VIRTUAL TABLE a.spans USING npuscope_rows               any of all_tables()
//   CREATE VIRTUAL TABLE a.arguments USING npuscope_arguments      several rows for each span
//   CREATE VIRTUAL TABLE a.span_numbers USING npuscope_numbers     likewise
//
// A module finds the profile by the schema in which the table is made.
#pragma once

#include <sqlite3.h>

#include <deque>
#include <map>
#include <memory>
#include <new>
#include <string>

#include "query/row_plan.hpp"

namespace npuscope::query {

inline constexpr const char* row_module_name = "npuscope_rows";
inline constexpr const char* argument_module_name = "npuscope_arguments";
inline constexpr const char* number_module_name = "npuscope_numbers";

// A profile and the indexes that its tables have made so far.
struct Tables {
  explicit Tables(const Profile& profile);
  TableIndexes* find(std::string_view table);

  Source source;
  std::deque<TableIndexes> indexes;  // in the order of all_tables()
};

using TablesBySchema = std::map<std::string, std::shared_ptr<Tables>, std::less<>>;

// Of all profiles the same: those whose rows are numbered, and those of several rows for each span.
const std::vector<schema::Table>& all_tables();
const std::vector<schema::Table>& pair_tables();
const char* pair_module_of(std::string_view table);

// `tables` must outlive the database.
int add_row_module(sqlite3* database, TablesBySchema& tables);
int add_pair_modules(sqlite3* database, TablesBySchema& tables);

// Tells SQLite the columns of a new table.
int declare(sqlite3* database, const std::vector<Field>& columns);

// No exception crosses SQLite.
template <class Function>
int guarded(Function&& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (...) {
    return SQLITE_ERROR;
  }
}

// How SQLite makes a table of a module and lets it go. A Table is an sqlite3_vtab with
//   const std::vector<Field>* bind(Tables& tables, std::string_view name);
// which makes it the one of this name and gives its columns; null where there is none.
template <class Table>
struct Connecting {
  static int connect(sqlite3* database, void* all, int argc, const char* const* argv,
                     sqlite3_vtab** table, char** error) {
    return guarded([&] {
      auto& schemas = *static_cast<TablesBySchema*>(all);
      const auto schema = argc > 2 ? schemas.find(std::string_view(argv[1])) : schemas.end();
      auto made = std::make_unique<Table>();
      const auto* columns =
          schema != schemas.end() ? made->bind(*schema->second, argv[2]) : nullptr;
      if (columns == nullptr) {
        *error = sqlite3_mprintf("no such table");
        return SQLITE_ERROR;
      }
      const int declared = declare(database, *columns);
      if (declared == SQLITE_OK) *table = made.release();
      return declared;
    });
  }

  // Another function than connect(), so that the module is no table by itself.
  static int create(sqlite3* database, void* all, int argc, const char* const* argv,
                    sqlite3_vtab** table, char** error) {
    return connect(database, all, argc, argv, table, error);
  }

  static int disconnect(sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
  }

  static void add_to(sqlite3_module& module) {
    module.xCreate = create;
    module.xConnect = connect;
    module.xDisconnect = disconnect;
    module.xDestroy = disconnect;
  }
};

}  // namespace npuscope::query
