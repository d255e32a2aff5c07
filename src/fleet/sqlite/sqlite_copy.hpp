// A store of any engine as one SQLite file, which a SQLite store then opens.
#pragma once

#include <filesystem>

#include "fleet/store.hpp"

namespace npuscope::fleet {

// Of all runs, or of those of a table of SQL (select_sql()). The file must be missing or empty.
// What is there after an error is no store.
Status copy_to_sqlite(Store& store, const std::filesystem::path& file, std::string_view runs = {});

}  // namespace npuscope::fleet
