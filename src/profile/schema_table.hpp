// How schema.hpp declares a table: fields with a name, a unit, a meaning and a getter. The type of
// a field, and whether it may be NULL, follow from what its getter returns; getters are known at
// compile time, so that a writer reads a cell as directly as if it named the member itself.
//
//   constexpr auto edges() {
//     return table("edges", "a dependency between ops", rows_in(&Profile::edges),
//                  field("from_op", "ops.id of the producer", &Edge::from),
//                  field("kind", "what it carries", &Edge::kind));
//   }
//   each_field<TableOf<edges>>([&](auto field) {      // field.name, .unit, .meaning, .type
//     write(field.cell(source, row));                 // Id{3}, then EdgeKind::data
//   });
//
//   a getter returns                      the cell is
//   bool, an integer, double              a number
//   StringId, string_view, string         a text
//   an enumeration with stable names      one of these names
//   Id, UnitId, OpId, …                   a row number, NULL where there is no row
//   std::optional of one of these         NULL where there is none
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope::schema {

using Row = std::uint32_t;
inline constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

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

enum class Type : std::uint8_t { boolean, integer, real, text, any };
constexpr const char* sql_name(Type type) {
  constexpr const char* names[] = {"INTEGER", "INTEGER", "REAL", "TEXT", ""};
  return names[std::size_t(type)];
}

enum class FieldUnit : std::uint8_t { none, ticks, cycles, bytes, hertz, microseconds };
constexpr const char* name_of(FieldUnit unit) {
  constexpr const char* names[] = {"", "ticks", "cycles", "bytes", "Hz", "us"};
  return names[std::size_t(unit)];
}

enum class HeldBy : std::uint8_t {
  all,    // CSV, JSON, SQLite and query
  names,  // CSV and query: the name behind an id, which JSON and SQLite look up in its table
  query,  // query alone: it follows from other columns
};

// A profile, and what the getters of several fields look up in it.
class Source {
 public:
  explicit Source(const Profile& of) : profile(of) {}

  const Profile& profile;

  std::string_view text(StringId id) const { return profile.strings[id]; }
  const Unit* unit_of(Row span) const {
    const std::uint32_t unit = index_of(profile.spans.unit[span]);
    return unit < profile.units.size() ? &profile.units[unit] : nullptr;
  }
  const Op* op_of(Row span) const {
    const std::uint32_t op = index_of(profile.spans.op[span]);
    return op < profile.ops.size() ? &profile.ops[op] : nullptr;
  }

  // "card 0 > core 3 > HVX 1", interned by themselves: equal paths have equal ids.
  const StringPool& paths() const;
  PathId path_of(std::uint32_t unit) const {
    if (!paths_) paths();
    return path_ids_[unit];
  }

  // The distinct keys of all arguments, and for each shape which of them it has, by place; none
  // unless every span has a shape.
  const std::vector<ArgumentKey>& argument_keys() const;
  const std::vector<std::uint32_t>& keys_of_shape(std::uint32_t shape) const;

 private:
  mutable std::optional<StringPool> paths_;
  mutable std::vector<PathId> path_ids_;
  mutable std::optional<std::vector<ArgumentKey>> argument_keys_;
  mutable std::vector<std::vector<std::uint32_t>> keys_of_shape_;
};

// Getters of the usual sorts ------------------------------------------------------------------

// The number of the row itself.
struct RowNumber {
  constexpr RowOf operator()(const Source&, Row row) const { return {row}; }
};
// A value in a column of the spans; where it lies, for those who fetch ahead.
template <class T>
struct InSpans {
  Column<T> Spans::*column;
  const T& operator()(const Source& source, Row row) const {
    return (source.profile.spans.*column)[row];
  }
  const void* where(const Source& source, Row row) const {
    return &(source.profile.spans.*column)[row];
  }
};
template <class T>
InSpans(Column<T> Spans::*) -> InSpans<T>;  // clang finds that by itself from version 17 on
// A text that is NULL where it is not known.
template <class Record, class Text>
struct Known {
  Text Record::*member;
  auto operator()(const Record& record) const {
    const Text& text = record.*member;
    if constexpr (std::is_same_v<Text, StringId>) {
      return text == StringId::empty ? std::nullopt : std::optional(text);
    } else {
      return text.empty() ? std::nullopt : std::optional(std::string_view(text));
    }
  }
};
template <class Record, class Text>
constexpr Known<Record, Text> known(Text Record::*member) {
  return {member};
}
// Gives a record a cell back. Who reads what is not a member says how in a set() of its own.
template <class Record, class T, class Cell>
void set_cell(T Record::*member, Record& record, const Cell& cell) {
  if constexpr (std::is_same_v<Cell, Id>) {
    record.*member = T(cell.row);
  } else {
    record.*member = cell;
  }
}
template <class Record>
void set_cell(const Known<Record, StringId>& known, Record& record, StringId text) {
  record.*known.member = text;
}
template <class Get, class Record, class Cell>
void set_cell(const Get& get, Record& record, const Cell& cell)
  requires requires { get.set(record, cell); }
{
  get.set(record, cell);
}

template <class Get>
inline constexpr bool is_settable = std::is_member_object_pointer_v<Get>;
template <class Record>
inline constexpr bool is_settable<Known<Record, StringId>> = true;
template <class Get>
  requires requires { &Get::set; }
inline constexpr bool is_settable<Get> = true;

// Cells that a getter cannot give one by one: a span has several.
template <class Cell>
struct Several {
  using EachCell = Cell;
};

// Fields and tables ---------------------------------------------------------------------------

template <class Get>
struct Field {
  const char* name;
  FieldUnit unit;
  const char* meaning;
  Get get;
  HeldBy held_by = HeldBy::all;
  // Whether CSV and JSON, which have no NULL that costs nothing, write the column; none: always.
  bool (*is_there)(const Profile&) = nullptr;
};
template <class Get>
constexpr Field<Get> field(const char* name, FieldUnit unit, const char* meaning, Get get) {
  return {name, unit, meaning, get};
}
template <class Get>
constexpr Field<Get> field(const char* name, const char* meaning, Get get) {
  return {name, FieldUnit::none, meaning, get};
}
template <class Get>
constexpr Field<Get> held_by(HeldBy holder, Field<Get> of) {
  of.held_by = holder;
  return of;
}
template <class Get>
constexpr Field<Get> only_where(bool (*is_there)(const Profile&), Field<Get> of) {
  of.is_there = is_there;
  return of;
}

enum class Part : std::uint8_t {
  table,     // everywhere a table
  about,     // JSON has an object instead
  of_spans,  // CSV and JSON have columns of the spans instead
};

// `rows` gives, of a Source, the records or how many rows there are.
template <class Rows, class... Gets>
struct Table {
  const char* name;
  const char* meaning;
  Rows rows;
  std::tuple<Field<Gets>...> fields;
  Part part = Part::table;
};
template <class Rows, class... Gets>
constexpr Table<Rows, Gets...> table(const char* name, const char* meaning, Rows rows,
                                     Field<Gets>... fields) {
  return {name, meaning, rows, {fields...}};
}
template <class Rows, class... Gets>
constexpr Table<Rows, Gets...> in_part(Part part, Table<Rows, Gets...> of) {
  of.part = part;
  return of;
}

template <class Records>
struct RowsIn {
  Records Profile::*records;
  const Records& operator()(const Source& source) const { return source.profile.*records; }
};
template <class Records>
constexpr RowsIn<Records> rows_in(Records Profile::*records) {
  return {records};
}
// Of a table of several rows for each span.
struct RowsOfSpans {
  std::size_t operator()(const Source&) const { return 0; }
};

// What writers see ----------------------------------------------------------------------------

template <class T>
concept RowEnum = std::same_as<T, UnitId> || std::same_as<T, OpId> || std::same_as<T, SpanId>;

// As one of the types of the table above.
template <class Value>
constexpr auto to_cell(const Value& value) {
  if constexpr (RowEnum<Value>) {
    return Id{index_of(value)};
  } else if constexpr (std::is_same_v<Value, Bytes>) {
    return value.value;
  } else {
    return value;
  }
}
inline std::string_view to_cell(const std::string& text) { return text; }
inline std::string to_cell(std::string&& text) { return std::move(text); }

template <auto make>
struct TableOf {
  static constexpr auto table = make();
  static constexpr std::size_t field_count = std::tuple_size_v<decltype(table.fields)>;

  template <class AnySource>
  static std::size_t rows(const AnySource& source) {
    if constexpr (std::is_convertible_v<decltype(table.rows(source)), std::size_t>) {
      return table.rows(source);
    } else {
      return table.rows(source).size();
    }
  }
};

template <class T>
struct Unwrapped {
  using type = T;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using type = T;
};

template <class Cell>
constexpr Type type_of_cell() {
  if (std::is_same_v<Cell, AnyValue>) return Type::any;
  if (std::is_same_v<Cell, bool>) return Type::boolean;
  if (std::is_floating_point_v<Cell>) return Type::real;
  const bool is_number = std::is_integral_v<Cell> || std::is_same_v<Cell, Id> ||
                         std::is_same_v<Cell, RowOf> || std::is_same_v<Cell, Sum>;
  return is_number ? Type::integer : Type::text;
}

// One field of a table, as a type: what it is, and its cells.
template <class OfTable, std::size_t at>
struct FieldOf {
  static constexpr std::size_t place = at;
  static constexpr const auto& declared = std::get<place>(OfTable::table.fields);
  using Get = std::remove_cvref_t<decltype(declared.get)>;

  static constexpr const char* name = declared.name;
  static constexpr const char* meaning = declared.meaning;
  static constexpr FieldUnit unit = declared.unit;
  static constexpr HeldBy held_by = declared.held_by;
  static constexpr bool is_row_number = std::is_same_v<Get, RowNumber>;
  static constexpr bool is_several = requires { typename Get::EachCell; };

  template <class AnySource>
  static auto cell(const AnySource& source, Row row) {
    if constexpr (std::is_invocable_v<Get, const AnySource&, Row>) {
      return to_cell(declared.get(source, row));
    } else {
      return to_cell(std::invoke(declared.get, OfTable::table.rows(source)[row]));
    }
  }
  static bool is_there(const Profile& profile) {
    return declared.is_there == nullptr || declared.is_there(profile);
  }
};

// What the cells of a field are: Cell, and whether they may be NULL.
template <class OfField, class AnySource>
struct CellProbe {
  using type = decltype(OfField::cell(std::declval<const AnySource&>(), Row{}));
};
template <class OfField, class AnySource>
  requires OfField::is_several
struct CellProbe<OfField, AnySource> {
  using type = typename OfField::Get::EachCell;
};
template <class OfField, class AnySource = Source>
struct CellOf {
  using Optional = typename CellProbe<OfField, AnySource>::type;
  using Cell = typename Unwrapped<Optional>::type;
  static constexpr bool is_nullable =
      !std::is_same_v<Optional, Cell> || std::is_same_v<Cell, Id> || std::is_same_v<Cell, AnyValue>;
  static constexpr Type type = type_of_cell<Cell>();
};

// f(FieldOf<…>{}) for each field in its order.
template <class OfTable, class Function>
constexpr void each_field(Function&& function) {
  [&]<std::size_t... places>(std::index_sequence<places...>) {
    (function(FieldOf<OfTable, places>{}), ...);
  }(std::make_index_sequence<OfTable::field_count>{});
}

}  // namespace npuscope::schema
