// The modules of virtual tables, as SQLite knows them:
//
//   CREATE VIRTUAL TABLE a.spans USING npuscope_rows               any table of tables.hpp
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

#include "query/row_index.hpp"

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

// Of all profiles the same.
const std::vector<TableType>& all_tables();

struct PairTableType {
  const char* name;
  const char* meaning;
  std::vector<TableColumn> columns;  // their names only
};
const std::vector<PairTableType>& pair_tables();
const char* pair_module_of(std::string_view table);

// `tables` must outlive the database.
int add_row_module(sqlite3* database, TablesBySchema& tables);
int add_pair_modules(sqlite3* database, TablesBySchema& tables);

// Tells SQLite the columns of a new table.
int declare(sqlite3* database, const std::vector<TableColumn>& columns);

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

}  // namespace npuscope::query
