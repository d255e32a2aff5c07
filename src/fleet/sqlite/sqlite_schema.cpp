#include "fleet/sqlite/sqlite_schema.hpp"

#include <fmt/format.h>

namespace npuscope::fleet {
namespace {

// Rows of unique tables lie in the order of their keys, so that those of a run lie together.
std::string create_sql(const Table& table) {
  std::string columns, keys;
  for (const Column& column : table.columns) {
    columns += fmt::format("{}\"{}\" {}{}", columns.empty() ? "" : ", ", column.name,
                           sql_name(column.type), column.is_nullable ? "" : " NOT NULL");
    if (column.is_key) keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", column.name);
  }
  if (table.sort == Rows::repeating) {
    return fmt::format("CREATE TABLE \"{}\"({})", table.name, columns);
  }
  const bool is_number =
      table.columns[0].type == schema::Type::integer && keys.find(',') == keys.npos;
  return fmt::format("CREATE TABLE \"{}\"({}, PRIMARY KEY({})){}", table.name, columns, keys,
                     is_number ? "" : " WITHOUT ROWID");
}

}  // namespace

std::string insert_sql(const Table& table) {
  std::string marks;
  for (std::size_t i = 0; i < table.columns.size(); ++i) marks += i == 0 ? "?" : ",?";
  return fmt::format("INSERT {}INTO \"{}\" VALUES({})",
                     table.sort == Rows::dimension ? "OR IGNORE " : "", table.name, marks);
}

const std::vector<SqliteStatement>& sqlite_statements() {
  static const std::vector<SqliteStatement> statements = [] {
    std::vector<SqliteStatement> made;
    for (const Table& table : schema()) {
      made.push_back({table.name, create_sql(table)});
      if (table.sort != Rows::repeating) continue;
      made.push_back(
          {"", fmt::format("CREATE INDEX \"{}_run\" ON \"{}\"(\"run\")", table.name, table.name)});
    }
    return made;
  }();
  return statements;
}

}  // namespace npuscope::fleet
