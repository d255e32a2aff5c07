// How a table of a profile looks to SQL: its columns by name, each with a function that reads it.
//
// A column whose values are small numbers inside (ids, interned names, enumerations) says so by its
// keys: equal keys are equal values. By them rows are grouped, put in order and found without
// comparing anything (row_index.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "query/output.hpp"
#include "query/source.hpp"

namespace npuscope::query {

enum class Type : std::uint8_t { integer, real, text, any };

constexpr const char* name_of(Type type) {
  switch (type) {
    case Type::integer: return "INTEGER";
    case Type::real: return "REAL";
    case Type::text: return "TEXT";
    case Type::any: break;
  }
  return "";
}

using Row = std::uint32_t;
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
  const char* meaning;
  void (*read)(const Source&, Row, Output&);
  Keys keys = {};
  // Of an integer column that is never NULL, for comparisons.
  std::int64_t (*number)(const Source&, Row) = nullptr;
  bool is_row = false;  // its value is the number of the row
  // Where a value lies, of columns of large tables: fetched ahead when rows are not read in order.
  const void* (*where)(const Source&, Row) = nullptr;
};

struct TableType {
  const char* name;
  const char* meaning;
  std::vector<TableColumn> columns;
  std::size_t (*rows)(const Source&);
};

}  // namespace npuscope::query
