// The schema: what the tables of a profile are called outside of this program, column by column.
//
// A column stands once, in schema.cpp. CSV, JSON, SQLite, the tables of `npuscope query`, its
// --schema and docs/formats/exports.md are made of it, and a Perfetto trace of ours says clocks,
// units and ops by it and is read back by it:
//
//   spans     unit         INTEGER          units.id
//             kind         TEXT             what it is (op, sync, barrier, …)
//             start        INTEGER  ticks   when it begins, by the base clock
//             unit_path    TEXT             units.path of its unit          (CSV and query only)
//
//   const Table& units = table_named("units");
//   for (const Field& field : units.fields) {
//     add_cell(source, field, field.get(source, 3), out);     // out.number(3), out.text("card 0 …
//   }
//
// To add a column, add its field there; `./dev docs` writes the documentation.
#pragma once

#include "profile/schema_table.hpp"

namespace npuscope::schema {

// Counts changes after which a program that reads exports must be told.
inline constexpr int version = 2;

// In the order of the documentation.
const std::vector<Table>& tables();
const Table& table_named(std::string_view name);  // that there is

// About the whole profile: rows of the table `profile`, members of an object in JSON. Getters of
// row 0.
const std::vector<Field>& facts();

}  // namespace npuscope::schema
