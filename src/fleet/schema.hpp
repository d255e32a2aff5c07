// The schema of a fleet: tables of runs, what they are of and what was measured, column by column.
//
//   op_runs   run    INTEGER          key    runs.id
//             work   REAL      ticks  work   own time of its spans, …
//
// A column stands once, in schema.cpp. The tables of the SQLite store, `npuscope fleet sql`, the
// CSV files of `fleet export` and docs/fleet.md are made of it; a store on another engine is made
// of it as well:
//
//   const Table& op_runs = schema_of("op_runs");
//   for (const Column& column : op_runs.columns) {
//     schema::add_cell(column.get(batch, 3), out);        // out.number(…), out.nothing()
//   }
//
// To add a column, add it there and to its struct in rows.hpp, and raise the version.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "fleet/rows.hpp"
#include "profile/schema_cell.hpp"
#include "query/errors.hpp"

namespace npuscope::fleet {

// Counts changes of the tables: a store of another version is refused.
inline constexpr int schema_version = 1;

// Who says what a column holds.
enum class From : std::uint8_t {
  file,      // the files of the run state it
  user,      // a tag, or the file's time where there is no tag
  computed,  // worked out from the files
};
const char* name_of(From from);

struct Column : schema::Head {
  const char* kind;  // key, label, or the kind of number (docs/glossary.md)
  From from;
  bool is_key;
  schema::Cell (*get)(const Batch&, std::size_t row);
};

// Rows are sorted by the keys, which tell a row of a table of unique ones apart. A dimension's row
// may be added again: it is the same.
enum class Rows : std::uint8_t { unique, dimension, repeating };

struct Table {
  std::string name, meaning;
  Rows sort = Rows::unique;
  std::vector<Column> columns;
  std::size_t (*count)(const Batch&) = nullptr;
  // Behind the rows of another batch, without those of some runs.
  void (*move)(const Table&, Batch& from, const std::unordered_set<Id>& without,
               Batch& to) = nullptr;

  // Of which run a row is, where the table is not a dimension.
  Id run_of(const Batch& batch, std::size_t row) const {
    return columns[0].get(batch, row).integer;
  }
};

// Dimensions first.
const std::vector<Table>& schema();
const Table& schema_of(std::string_view table);

// SELECT of all columns in their order, rows in that of the keys; of some runs only, with the ops
// and units that they have, where `runs` is a table of SQL with their ids as `run`.
std::string select_sql(const Table& table, std::string_view runs = {});

// What SQL on a store can name.
const query::Catalogue& catalogue();

}  // namespace npuscope::fleet
