// What SQLite objects to, as one sentence that also says what there is instead.
#pragma once

#include <sqlite3.h>

#include <string_view>

#include "npuscope/query/database.hpp"

namespace npuscope::query {

// The last error of the database, whose statement was `sql`.
Error sql_error(sqlite3* database, std::string_view sql, const Limits& limits);

Error only_reads();

}  // namespace npuscope::query
