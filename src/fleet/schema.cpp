#include "fleet/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope::fleet {

const char* name_of(From from) {
  constexpr const char* names[] = {"file", "user", "computed"};
  return names[std::size_t(from)];
}

const std::vector<TableText>& schema() {
  static const std::vector<TableText> tables = [] {
    std::vector<TableText> made;
    each_table([&](const auto& of) {
      TableText text{of.name, of.meaning, of.sort, {}};
      each_column(of, [&]<class Row, class T>(const Column<Row, T>& column) {
        text.columns.push_back({column.name, TypeOf<T>::sql, column.unit, column.kind,
                                name_of(column.from), column.meaning, TypeOf<T>::is_nullable,
                                text.columns.size() < of.keys});
      });
      made.push_back(std::move(text));
    });
    return made;
  }();
  return tables;
}

const TableText& schema_of(std::string_view table) {
  return *std::find_if(schema().begin(), schema().end(),
                       [&](const TableText& each) { return each.name == table; });
}

namespace {

// " WHERE …": rows of these runs.
std::string of_runs(const TableText& table, std::string_view runs) {
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

std::string select_sql(const TableText& table, std::string_view runs) {
  std::string columns, keys;
  for (const ColumnText& column : table.columns) {
    columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", column.name);
    if (column.is_key) keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", column.name);
  }
  return fmt::format("SELECT {} FROM \"{}\"{} ORDER BY {}", columns, table.name,
                     of_runs(table, runs), keys);
}

const query::Catalogue& catalogue() {
  static const std::vector<query::TableInfo> tables = [] {
    std::vector<query::TableInfo> made;
    for (const TableText& table : schema()) {
      query::TableInfo info{table.name, table.meaning, "", {}};
      for (const ColumnText& column : table.columns) {
        info.columns.push_back(
            {column.name, column.type, column.meaning, column.unit, column.is_nullable});
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
