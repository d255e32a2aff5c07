// How a table of a profile looks to SQL: its columns by name, each with a function that reads it.
//
// A column whose values are small numbers inside (ids, interned names, enumerations) says so by its
// keys: equal keys are equal values. By them rows are grouped, put in order and found without
// comparing anything (row_index.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/output.hpp"
#include "query/source.hpp"

namespace npuscope::query {

using schema::Row, schema::Type;
inline constexpr std::uint32_t no_key = std::numeric_limits<std::uint32_t>::max();  // NULL

struct Keys {
  std::uint32_t (*of)(const Source&, Row) = nullptr;
  // The text that a key stands for; none: the key is itself the number.
  std::string_view (*text)(const Source&, std::uint32_t key) = nullptr;
  // Of a text; none when no row can have it.
  std::optional<std::uint32_t> (*find)(const Source&, std::string_view) = nullptr;
};

struct TableColumn {
  const char* name;
  Type type;
  void (*read)(const Source&, Row, Output&) = nullptr;
  Keys keys = {};
  // Of an integer column that is never NULL, for comparisons.
  std::int64_t (*number)(const Source&, Row) = nullptr;
  bool is_row = false;  // its value is the number of the row
  // Where a value lies, of columns of large tables: fetched ahead when rows are not read in order.
  const void* (*where)(const Source&, Row) = nullptr;
  // What --schema says of it.
  const char* unit = "";
  std::string meaning = {};
  bool is_nullable = true;
  schema::HeldBy held_by = schema::HeldBy::all;
};

struct TableType {
  const char* name;
  const char* meaning;
  std::vector<TableColumn> columns;
  std::size_t (*rows)(const Source&);  // none: a table of several rows for each span
};

}  // namespace npuscope::query
