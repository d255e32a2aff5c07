// SQL functions beside SQLite's own: median, percentile, stddev, regexp.
#pragma once

#include <sqlite3.h>

namespace npuscope::query {

int add_functions(sqlite3* database);

}  // namespace npuscope::query
