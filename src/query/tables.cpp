#include "profile/schema.hpp"
#include "query/derived.hpp"
#include "query/module.hpp"

namespace npuscope::query {
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
