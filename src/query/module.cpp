#include "query/module.hpp"

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

}  // namespace npuscope::query
