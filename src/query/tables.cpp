#include "profile/schema.hpp"
#include "query/derived.hpp"
#include "query/field_column.hpp"
#include "query/module.hpp"

namespace npuscope::query {
namespace {

template <class Table>
constexpr bool is_several = std::is_same_v<decltype(Table::table.rows), schema::RowsOfSpans>;

template <class Table>
void add_columns(std::vector<TableColumn>& columns) {
  schema::each_field<Table>([&]<class Field>(Field) { columns.push_back(column_of<Field>()); });
}

template <class Table>
TableType type_of() {
  TableType type{Table::table.name, Table::table.meaning, {}, nullptr};
  if constexpr (!is_several<Table>) {
    type.rows = [](const Source& source) { return Table::rows(source); };
  }
  add_columns<Table>(type.columns);
  return type;
}

template <class Table>
void add_derived(std::vector<TableType>& tables) {
  TableType derived = type_of<Table>();
  for (TableColumn& column : derived.columns) column.held_by = schema::HeldBy::query;
  for (TableType& table : tables) {
    if (std::string_view(table.name) != derived.name) continue;
    table.columns.insert(table.columns.end(), derived.columns.begin(), derived.columns.end());
    return;
  }
  tables.push_back(std::move(derived));
}

std::vector<TableType> tables_of_schema(bool of_several) {
  std::vector<TableType> tables;
  schema::each_table([&]<class Table>(Table) {
    if (is_several<Table> == of_several) tables.push_back(type_of<Table>());
  });
  return tables;
}

}  // namespace

const std::vector<TableType>& all_tables() {
  static const std::vector<TableType> tables = [] {
    std::vector<TableType> all = tables_of_schema(false);
    each_derived_table([&]<class Table>(Table) { add_derived<Table>(all); });
    return all;
  }();
  return tables;
}

const std::vector<TableType>& pair_tables() {
  static const std::vector<TableType> tables = tables_of_schema(true);
  return tables;
}

}  // namespace npuscope::query
