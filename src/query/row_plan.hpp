// What a scan of a table uses of a query, as SQLite hands it from planning to running: a text of
// two characters a step, the second one the column.
//
//   "RA"  the row of this number          takes an argument
//   "KB"  rows whose key is this value    takes an argument; at the beginning: found by an index
//   "<E" "lE" ">E" "gE" "=E"  rows whose number compares so (l: <=, g: >=); takes an argument
//   "OB"  "DB"  in the order of this column, "D" descending
//
// Beside it goes, as a number, which of the first 31 columns are read: bit i is column i.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>
#include <vector>

#include "query/row_index.hpp"

namespace npuscope::query {

struct PlanStep {
  char what = 0;
  std::uint32_t column = 0;

  bool takes_argument() const { return what != 'O' && what != 'D'; }
};

// Fills the answers of xBestIndex.
int plan_rows(TableIndexes& indexes, sqlite3_index_info& info);

std::vector<PlanStep> steps_of(const char* plan);

}  // namespace npuscope::query
