#include <fmt/format.h>

#include "fleet/schema.hpp"

namespace npuscope::fleet {
namespace {

// " WHERE …": rows of these runs.
std::string of_runs(const Table& table, std::string_view runs) {
  if (runs.empty()) return "";
  const std::string ids = fmt::format("(SELECT run FROM {})", runs);
  if (table.name == "runs") return " WHERE id IN " + ids;
  if (table.sort != Rows::dimension) return " WHERE run IN " + ids;
  const char* const column = table.name == "ops" ? "op" : "unit";
  return fmt::format(
      " WHERE id IN (SELECT {0} FROM {0}_runs WHERE run IN {1}) OR id IN (SELECT {0} FROM spans "
      "WHERE {0} IS NOT NULL AND run IN {1})",
      column, ids);
}

}  // namespace

std::string select_sql(const Table& table, std::string_view runs) {
  std::string columns, keys;
  for (const Column& column : table.columns) {
    columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", column.name);
    if (column.is_key) keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", column.name);
  }
  return fmt::format("SELECT {} FROM \"{}\"{} ORDER BY {}", columns, table.name,
                     of_runs(table, runs), keys);
}

const query::Catalogue& catalogue() {
  static const std::vector<query::TableInfo> tables = [] {
    std::vector<query::TableInfo> made;
    for (const Table& table : schema()) {
      query::TableInfo info{table.name, table.meaning, "", {}};
      for (const Column& column : table.columns) {
        info.columns.push_back({column.name, sql_name(column.type), column.meaning,
                                name_of(column.unit), column.is_nullable});
      }
      made.push_back(std::move(info));
    }
    return made;
  }();
  static const query::Catalogue all{tables, "npuscope fleet sql --schema",
                                    "npuscope fleet export STORE -o copy.db"};
  return all;
}

}  // namespace npuscope::fleet
