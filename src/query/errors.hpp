// What SQLite objects to, as one sentence that also says what there is instead.
#pragma once

#include <sqlite3.h>

#include <set>
#include <string>
#include <string_view>

#include "npuscope/query/database.hpp"
#include "query/schema.hpp"

namespace npuscope::query {

// The words of a statement in small letters, those in quotes, strings and comments too: what it
// names is among them, because no name of a table has another character.
//
//   words_of("SELECT \"Op\" FROM a.op_times")   // a, from, op, op_times, select
using Words = std::set<std::string, std::less<>>;

Words words_of(std::string_view sql);

// What a database offers, for errors that say what there is.
struct Catalogue {
  const std::vector<TableInfo>& tables;
  const char* listing;  // the command that lists them
  const char* copying;  // the command that writes a copy to work on
};
const Catalogue& profile_catalogue();

// The last error of the database, whose statement was `sql`.
Error sql_error(sqlite3* database, std::string_view sql, const Limits& limits,
                const Catalogue& catalogue);

Error only_reads(const Catalogue& catalogue);

}  // namespace npuscope::query
