#include "npuscope/query/schema.hpp"

#include "query/module.hpp"
#include "query/views.hpp"

namespace npuscope::query {
namespace {

TableInfo info_of(const char* name, const char* meaning, const std::vector<TableColumn>& columns) {
  TableInfo table{name, meaning, {}, {}};
  for (const TableColumn& column : columns) {
    table.columns.push_back({column.name, name_of(column.type), column.meaning});
  }
  return table;
}

}  // namespace

const std::vector<TableInfo>& schema() {
  static const std::vector<TableInfo> all = [] {
    std::vector<TableInfo> tables;
    for (const TableType& type : all_tables()) {
      tables.push_back(info_of(type.name, type.meaning, type.columns));
    }
    for (const PairTableType& type : pair_tables()) {
      tables.push_back(info_of(type.name, type.meaning, type.columns));
    }
    tables.insert(tables.end(), views().begin(), views().end());
    return tables;
  }();
  return all;
}

}  // namespace npuscope::query
