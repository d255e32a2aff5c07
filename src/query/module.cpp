#include "query/module.hpp"

#include "profile/schema.hpp"
#include "query/derived.hpp"

namespace npuscope::query {

Tables::Tables(const Profile& profile) : source(profile) {
  for (const schema::Table& type : all_tables()) indexes.emplace_back(type, source);
}

TableIndexes* Tables::find(std::string_view table) {
  for (TableIndexes& known : indexes) {
    if (known.type().name == table) return &known;
  }
  return nullptr;
}

int declare(sqlite3* database, const std::vector<Field>& columns) {
  std::string sql;
  for (const Field& column : columns) {
    sql += sql.empty() ? "CREATE TABLE t(" : ", ";
    sql += std::string("\"") + column.name + "\" " + sql_name(column.type);
  }
  return sqlite3_declare_vtab(database, (sql + ")").c_str());
}

namespace {

std::vector<schema::Table> tables_of_schema(bool of_several) {
  std::vector<schema::Table> tables;
  for (const schema::Table& table : schema::tables()) {
    if (table.is_several() == of_several) tables.push_back(table);
  }
  return tables;
}

void add_derived(std::vector<schema::Table>& tables, schema::Table derived) {
  for (Field& field : derived.fields) field.held_by = schema::HeldBy::query;
  for (schema::Table& table : tables) {
    if (std::string_view(table.name) != derived.name) continue;
    table.fields.insert(table.fields.end(), derived.fields.begin(), derived.fields.end());
    return;
  }
  tables.push_back(std::move(derived));
}

}  // namespace

const std::vector<schema::Table>& all_tables() {
  static const std::vector<schema::Table> tables = [] {
    std::vector<schema::Table> all = tables_of_schema(false);
    add_derived(all, derived_spans());
    add_derived(all, unit_times());
    return all;
  }();
  return tables;
}

const std::vector<schema::Table>& pair_tables() {
  static const std::vector<schema::Table> tables = tables_of_schema(true);
  return tables;
}

}  // namespace npuscope::query
