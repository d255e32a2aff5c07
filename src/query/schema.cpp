#include "query/schema.hpp"

#include <fmt/ranges.h>

#include "query/module.hpp"
#include "query/views.hpp"

namespace npuscope::query {
namespace {

// "what it counts (wall, timer, unit_cycles)"
std::string meaning_of(const Field& field) {
  if (field.names.empty()) return field.meaning;
  return fmt::format("{} ({})", field.meaning, fmt::join(field.names, ", "));
}

TableInfo info_of(const schema::Table& type) {
  TableInfo table{type.name, type.meaning, {}, {}};
  for (const Field& field : type.fields) {
    table.columns.push_back({field.name, sql_name(field.type), meaning_of(field),
                             name_of(field.unit), field.is_nullable, field.held_by});
  }
  return table;
}

}  // namespace

const std::vector<TableInfo>& schema() {
  static const std::vector<TableInfo> all = [] {
    std::vector<TableInfo> tables;
    for (const schema::Table& type : all_tables()) tables.push_back(info_of(type));
    for (const schema::Table& type : pair_tables()) tables.push_back(info_of(type));
    tables.insert(tables.end(), views().begin(), views().end());
    return tables;
  }();
  return all;
}

}  // namespace npuscope::query
