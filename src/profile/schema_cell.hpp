// What a column of a table is, and its cells, at run time: one vocabulary for the tables of a
// profile (schema_table.hpp) and those of a fleet (fleet/schema.hpp).
//
//   head_of<std::optional<double>>("hertz", FieldUnit::hertz, "its rate")   // real, nullable
//   cell_of(std::optional(19.2e6))     // {Type::real}, .real is 19.2e6
//   cell_of(OpId{3})                   // {Type::id}, .integer is 3
//   cell_of(OpId::none)                // {Type::nothing}
//
//   what a getter returns                 the cell is
//   bool, an integer, double              a number
//   StringId, string_view, string         a text
//   an enumeration with stable names      one of these names
//   Id, UnitId, OpId, …                   a row number, NULL where there is no row
//   std::optional of one of these         NULL where there is none
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "npuscope/profile/profile.hpp"
#include "profile/names.hpp"

namespace npuscope::schema {

using Row = std::uint32_t;
inline constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

// What getters return beside the types of the data model --------------------------------------

// The number of a row of some table, or of an inference; NULL: no_row.
struct Id {
  std::uint32_t row = no_row;
};
// The number of a row that is always there.
struct RowOf {
  std::uint32_t row = 0;
};
// A text of Source::paths().
enum class PathId : std::uint32_t {};
// As SQL adds: a sum beyond 64 bits is a real number.
struct Sum {
  std::int64_t left = 0;
  std::int64_t right = 0;
};
// A value of an argument: of any type.
struct AnyValue {};

template <class T>
concept RowEnum = std::same_as<T, UnitId> || std::same_as<T, OpId> || std::same_as<T, SpanId>;
template <class T>
concept NamedEnum =
    std::is_enum_v<T> && !RowEnum<T> && !std::same_as<T, StringId> && !std::same_as<T, PathId>;

// Cells ---------------------------------------------------------------------------------------

enum class Type : std::uint8_t {
  nothing,  // NULL; of cells only
  boolean,
  integer,
  unsigned_integer,  // of 64 bits
  real,
  id,        // the number of a row
  name,      // of an enumeration: its place among Head::names
  interned,  // a StringId of the profile
  path,      // a StringId of Source::paths()
  text,
  sum,  // of fields only: its cells are integers, or real beyond 64 bits
  any,  // of fields only
};

constexpr bool is_text(Type type) {
  return type == Type::name || type == Type::interned || type == Type::path || type == Type::text;
}
constexpr const char* sql_name(Type type) {
  return type == Type::any ? "" : type == Type::real ? "REAL" : is_text(type) ? "TEXT" : "INTEGER";
}

// Of two registers, so that a getter returns it as fast as a number.
struct Cell {
  Type type = Type::nothing;
  std::uint64_t size : 56 = 0;  // of a text, which lies in the profile
  union {
    std::int64_t integer = 0;  // whatever is neither real nor a text
    double real;
    const char* characters;
  };

  std::string_view text() const { return {characters, std::size_t(size)}; }
};

constexpr Cell coded(Type type, std::int64_t integer) {
  Cell cell;
  cell.type = type;
  cell.integer = integer;
  return cell;
}

template <class T>
struct Unwrapped {
  using type = T;
  static constexpr bool is_nullable =
      std::is_same_v<T, Id> || RowEnum<T> || std::is_same_v<T, AnyValue>;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
  static constexpr bool is_nullable = true;
};

template <class Value>
constexpr Type type_of() {
  if constexpr (std::is_same_v<Value, bool>) return Type::boolean;
  if constexpr (std::is_floating_point_v<Value>) return Type::real;
  if constexpr (std::is_integral_v<Value>) {
    return std::is_unsigned_v<Value> && sizeof(Value) == 8 ? Type::unsigned_integer : Type::integer;
  }
  if constexpr (std::is_same_v<Value, Bytes>) return Type::integer;
  if constexpr (std::is_same_v<Value, Sum>) return Type::sum;
  if constexpr (std::is_same_v<Value, AnyValue>) return Type::any;
  if constexpr (std::is_same_v<Value, Id> || std::is_same_v<Value, RowOf> || RowEnum<Value>) {
    return Type::id;
  }
  if constexpr (std::is_same_v<Value, StringId>) return Type::interned;
  if constexpr (std::is_same_v<Value, PathId>) return Type::path;
  return std::is_enum_v<Value> ? Type::name : Type::text;
}

template <class Value>
Cell cell_of(const Value& value) {
  using Inner = typename Unwrapped<Value>::type;
  Cell cell;
  cell.type = type_of<Inner>();
  if constexpr (!std::is_same_v<Inner, Value>) {
    return value ? cell_of(*value) : Cell{};
  } else if constexpr (RowEnum<Value>) {
    return cell_of(Id{index_of(value)});
  } else if constexpr (std::is_same_v<Value, Id>) {
    if (value.row == no_row) return {};
    cell.integer = value.row;
  } else if constexpr (std::is_same_v<Value, RowOf>) {
    cell.integer = value.row;
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    cell.integer = value.value;
  } else if constexpr (std::is_same_v<Value, Sum>) {
    const bool fits = !__builtin_add_overflow(value.left, value.right, &cell.integer);
    cell.type = fits ? Type::integer : Type::real;
    if (!fits) cell.real = double(value.left) + double(value.right);
  } else if constexpr (std::is_floating_point_v<Value>) {
    cell.real = value;
  } else if constexpr (type_of<Value>() == Type::text) {
    const std::string_view text = value;
    cell.size = text.size() & ((std::uint64_t{1} << 56) - 1);
    cell.characters = text.data();
  } else {
    cell.integer = std::int64_t(value);
  }
  return cell;
}
Cell cell_of(std::string&&) = delete;  // Source::kept() keeps what is made for a cell

// Hands a cell to a writer, as one of the few things that files have:
//   nothing()  boolean(true)  number(3)  number(2.5)  text("lives as long as what has the cell")
// by_number() hands on a text that the cell only has the number of.
template <class Out, class ByNumber>
void add_cell(const Cell& cell, Out& out, const ByNumber& by_number) {
  switch (cell.type) {
    case Type::nothing:
    case Type::sum:
    case Type::any: return out.nothing();
    case Type::boolean: return out.boolean(cell.integer != 0);
    case Type::integer:
    case Type::id: return out.number(cell.integer);
    case Type::unsigned_integer: return out.number(std::uint64_t(cell.integer));
    case Type::real: return out.number(cell.real);
    case Type::text: return out.text(cell.text());
    case Type::name:
    case Type::interned:
    case Type::path: return by_number();
  }
}
template <class Out>
void add_cell(const Cell& cell, Out& out) {
  add_cell(cell, out, [] {});
}

// Back from a cell of the same type, or of nothing.
template <class Value>
Value value_of(const Cell& cell) {
  using Inner = typename Unwrapped<Value>::type;
  if constexpr (!std::is_same_v<Inner, Value>) {
    return cell.type == Type::nothing ? Value() : Value(value_of<Inner>(cell));
  } else if constexpr (std::is_floating_point_v<Value>) {
    return Value(cell.real);
  } else if constexpr (type_of<Value>() == Type::text) {
    return Value(cell.text());
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    return Bytes{cell.integer};
  } else if constexpr (RowEnum<Value>) {
    return Value(cell.type == Type::nothing ? no_row : std::uint32_t(cell.integer));
  } else {
    return Value(cell.integer);
  }
}

// Columns -------------------------------------------------------------------------------------

enum class FieldUnit : std::uint8_t { none, ticks, cycles, bytes, hertz, microseconds, seconds };
constexpr const char* name_of(FieldUnit unit) {
  constexpr const char* names[] = {"", "ticks", "cycles", "bytes", "Hz", "us", "s"};
  return names[std::size_t(unit)];
}

// A column without its cells.
struct Head {
  const char* name = "";
  FieldUnit unit = FieldUnit::none;
  const char* meaning = "";
  Type type = Type::integer;
  bool is_nullable = false;
  std::span<const char* const> names = {};  // of Type::name

  const char* name_at(std::int64_t place) const {
    return std::size_t(place) < names.size() ? names[std::size_t(place)] : "unknown";
  }
  std::optional<std::int64_t> place_of(std::string_view text) const {
    const auto found = std::ranges::find(names, text);
    return found != names.end() ? std::optional(found - names.begin()) : std::nullopt;
  }
};
template <class Value>
Head head_of(const char* name, FieldUnit unit, const char* meaning) {
  using Inner = typename Unwrapped<Value>::type;
  Head head{name, unit, meaning, type_of<Inner>(), Unwrapped<Value>::is_nullable, {}};
  if constexpr (NamedEnum<Inner>) head.names = stable_names(Inner{});
  return head;
}

// Getters are types, so that a plain function can call one: of<&Edge::from>, of<a_function>, or a
// lambda that captures nothing. Members can be set again.
template <auto getter>
struct Of {
  template <class... Args>
    requires std::invocable<decltype(getter), const Args&...>
  decltype(auto) operator()(const Args&... args) const {
    return std::invoke(getter, args...);
  }
  template <class Record>
    requires std::is_member_object_pointer_v<decltype(getter)>
  static void set(Record& record, const Cell& cell) {
    record.*getter = value_of<std::remove_cvref_t<decltype(record.*getter)>>(cell);
  }
};
template <auto getter>
inline constexpr Of<getter> of{};

}  // namespace npuscope::schema
