#include "query/schema.hpp"

#include "query/module.hpp"
#include "query/views.hpp"

namespace npuscope::query {
namespace {

TableInfo info_of(const TableType& type) {
  TableInfo table{type.name, type.meaning, {}, {}};
  for (const TableColumn& column : type.columns) {
    table.columns.push_back({column.name, sql_name(column.type), column.meaning, column.unit,
                             column.is_nullable, column.held_by});
  }
  return table;
}

}  // namespace

const std::vector<TableInfo>& schema() {
  static const std::vector<TableInfo> all = [] {
    std::vector<TableInfo> tables;
    for (const TableType& type : all_tables()) tables.push_back(info_of(type));
    for (const TableType& type : pair_tables()) tables.push_back(info_of(type));
    tables.insert(tables.end(), views().begin(), views().end());
    return tables;
  }();
  return all;
}

}  // namespace npuscope::query
