// What SQL can name: the tables, views and functions of every profile.
//
//   for (const query::TableInfo& table : query::schema()) …
//     "spans"   "one execution of an op on one unit"   {"start", "INTEGER", "ticks of the base …"}
#pragma once

#include <string>
#include <vector>

#include "profile/schema_table.hpp"

namespace npuscope::query {

struct ColumnInfo {
  std::string name;
  std::string type;  // INTEGER, REAL, TEXT; empty: any
  std::string meaning;
  std::string unit = {};    // "ticks"; empty: none
  bool is_nullable = true;  // of a view: not said
  schema::HeldBy held_by = schema::HeldBy::query;
};

struct TableInfo {
  std::string name;
  std::string meaning;
  std::string view_of;  // the SELECT of a view; empty: a table
  std::vector<ColumnInfo> columns;
};

struct FunctionInfo {
  std::string call;  // "percentile(x, p)"
  std::string meaning;
};

// Tables first, then views, each in its order of the documentation.
const std::vector<TableInfo>& schema();
// Those beside SQLite's own.
const std::vector<FunctionInfo>& functions();

// The common questions as views.

// With the SELECT in view_of; columns without types. Each uses only tables and views before it.
const std::vector<TableInfo>& views();

}  // namespace npuscope::query
