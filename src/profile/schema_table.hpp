// How schema.cpp declares the tables of a profile, and what writers, SQL and Python see of them: a
// Field is a plain struct with a function that reads one cell, so that a writer is one loop.
//
//   Table edges() {
//     return table("edges", "a dependency between ops", rows_in<&Profile::edges>,
//                  field("from_op", "ops.id of the producer", of<&Edge::from>),
//                  field("kind", "what it carries", of<&Edge::kind>));
//   }
//   for (const Field& field : edges().fields) {            // .name, .unit, .meaning, .type
//     add_cell(source, field, field.get(source, row), out);
//   }               // out.number(3), then out.text("data")
#pragma once

#include <utility>
#include <vector>

#include "profile/schema_cell.hpp"

namespace npuscope::schema {

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
  // Of a cell that is one: see is_text().
  std::string_view text(const Head& field, const Cell& cell) const {
    switch (cell.type) {
      case Type::name: return field.name_at(cell.integer);
      case Type::interned: return text(StringId(cell.integer));
      case Type::path: return paths()[StringId(cell.integer)];
      default: return cell.text();
    }
  }
  // A text that the profile does not have, or not in UTF-8, as long as the source lives.
  std::string_view kept(std::string_view text) const { return kept_[kept_.intern(text)]; }
  std::string_view in_utf8(std::string_view text) const;

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
  mutable StringPool kept_;
  mutable std::optional<StringPool> paths_;
  mutable std::vector<PathId> path_ids_;
  mutable std::optional<std::vector<ArgumentKey>> argument_keys_;
  mutable std::vector<std::vector<std::uint32_t>> keys_of_shape_;
};

struct Field : Head {
  HeldBy held_by = HeldBy::all;
  // Whether CSV and JSON, which have no NULL that costs nothing, write the column; none: always.
  bool (*is_there)(const Profile&) = nullptr;
  bool is_row_number = false;                 // its value is the number of the row
  Cell (*get)(const Source&, Row) = nullptr;  // none: a span has several
  // Of what can be read back: gives the record of an existing row its cell.
  void (*set)(Profile&, Row, const Cell&) = nullptr;
  // Where a value lies, of columns of the spans: to fetch ahead, to look at in place.
  const void* (*where)(const Source&, Row) = nullptr;

  bool is_there_in(const Profile& profile) const {
    return is_there == nullptr || is_there(profile);
  }
};

enum class Part : std::uint8_t {
  table,     // everywhere a table
  about,     // JSON has an object instead
  of_spans,  // CSV and JSON have columns of the spans instead
};

struct Table {
  const char* name;
  const char* meaning;
  std::size_t (*count)(const Source&);  // none: a table of several rows for each span
  std::vector<Field> fields;
  Part part = Part::table;

  bool is_several() const { return count == nullptr; }
  std::size_t rows(const Source& source) const { return is_several() ? 0 : count(source); }
};

// Where `out` has plain(…), it gets names, which never need a quote or an escape.
template <class Out>
void add_cell(const Source& source, const Head& field, const Cell& cell, Out& out) {
  add_cell(cell, out, [&] {
    if constexpr (requires { out.plain(std::string_view()); }) {
      if (cell.type == Type::name) return out.plain(field.name_at(cell.integer));
    }
    out.text(source.text(field, cell));
  });
}

// The same of an argument.
template <class Out>
void add_argument(const Source& source, const Argument& value, Out& out) {
  switch (value.key.type) {
    case ArgumentType::null: return out.nothing();
    case ArgumentType::boolean: return out.boolean(value.boolean());
    case ArgumentType::integer: return out.number(value.integer());
    case ArgumentType::unsigned_integer: return out.number(value.unsigned_integer());
    case ArgumentType::number: return out.number(value.number());
    case ArgumentType::text:
    case ArgumentType::json: return out.text(source.text(value.text()));
  }
}

// Getters of the usual sorts ------------------------------------------------------------------

// The number of the row itself.
struct RowNumber {
  RowOf operator()(const Source&, Row row) const { return {row}; }
};
// A value in a column of the spans.
template <auto column>
struct InSpans {
  const auto& operator()(const Source& source, Row row) const {
    return (source.profile.spans.*column)[row];
  }
  static const void* where(const Source& source, Row row) {
    return (source.profile.spans.*column).data() + row;
  }
};
template <auto column>
inline constexpr InSpans<column> in_spans{};
// A text that is NULL where it is not known.
template <auto member>
struct Known {
  template <class Record>
  auto operator()(const Record& record) const {
    const auto& text = record.*member;
    if constexpr (std::is_same_v<decltype(text), const StringId&>) {
      return text == StringId::empty ? std::nullopt : std::optional(text);
    } else {
      return text.empty() ? std::nullopt : std::optional(std::string_view(text));
    }
  }
  template <class Record>
  static void set(Record& record, const Cell& cell) {
    Of<member>::set(record, cell);
  }
};
template <auto member>
inline constexpr Known<member> known{};
// Cells that a getter cannot give one by one: a span has several.
template <class Each>
struct Several {
  using EachCell = Each;
};

// Declarations --------------------------------------------------------------------------------

template <class Get>
struct Declared {
  const char* name;
  FieldUnit unit;
  const char* meaning;
  HeldBy held_by = HeldBy::all;
  bool (*is_there)(const Profile&) = nullptr;
};
template <class Get>
Declared<Get> field(const char* name, FieldUnit unit, const char* meaning, Get) {
  return {name, unit, meaning};
}
template <class Get>
Declared<Get> field(const char* name, const char* meaning, Get) {
  return {name, FieldUnit::none, meaning};
}
template <class Get>
Declared<Get> held_by(HeldBy holder, Declared<Get> of) {
  of.held_by = holder;
  return of;
}
template <class Get>
Declared<Get> only_where(bool (*is_there)(const Profile&), Declared<Get> of) {
  of.is_there = is_there;
  return of;
}

// Rows of a table: the records, or how many rows there are.
template <auto records>
struct RowsIn {
  const auto& operator()(const Source& source) const { return source.profile.*records; }
  static auto& in(Profile& profile) { return profile.*records; }
};
template <auto records>
inline constexpr RowsIn<records> rows_in{};
// Of a table of several rows for each span.
struct RowsOfSpans {};

// The value of a field, by its getter of a record or of source and row.
template <class From, class Rows, class Get>
decltype(auto) value_at(const Source& source, Row row) {
  const From& from = static_cast<const From&>(source);
  if constexpr (std::is_invocable_v<Get, const From&, Row>) {
    return Get{}(from, row);
  } else {
    return Get{}(Rows{}(from)[row]);
  }
}

template <class From, class Rows, class Get>
Field made_field(const Declared<Get>& declared) {
  static_assert(std::is_empty_v<Get>, "a getter captures nothing");
  const auto field_of = [&]<class Value>(std::type_identity<Value>) {
    const Head head = head_of<Value>(declared.name, declared.unit, declared.meaning);
    return Field{head, declared.held_by, declared.is_there, std::is_same_v<Get, RowNumber>};
  };
  if constexpr (requires { typename Get::EachCell; }) {
    return field_of(std::type_identity<typename Get::EachCell>{});
  } else {
    using Value = std::remove_cvref_t<decltype(value_at<From, Rows, Get>(
        std::declval<const Source&>(), Row{}))>;
    Field field = field_of(std::type_identity<Value>{});
    field.get = [](const Source& source, Row row) {
      return cell_of(value_at<From, Rows, Get>(source, row));
    };
    if constexpr (requires { Get::where; }) field.where = Get::where;
    if constexpr (requires(Profile& p, Cell c) { Get::set(Rows::in(p)[0], c); }) {
      field.set = [](Profile& profile, Row row, const Cell& cell) {
        Get::set(Rows::in(profile)[row], cell);
      };
    }
    return field;
  }
}

// `From` is the source that getters take: query has one that analyses.
template <class From = Source, class Rows, class... Gets>
Table table(const char* name, const char* meaning, Rows, Declared<Gets>... fields) {
  Table made{name, meaning, nullptr, {made_field<From, Rows>(fields)...}};
  if constexpr (!std::is_same_v<Rows, RowsOfSpans>) {
    made.count = [](const Source& source) {
      const From& from = static_cast<const From&>(source);
      if constexpr (std::is_convertible_v<decltype(Rows{}(from)), std::size_t>) {
        return std::size_t(Rows{}(from));
      } else {
        return Rows{}(from).size();
      }
    };
  }
  return made;
}
inline Table in_part(Part part, Table of) {
  of.part = part;
  return of;
}

}  // namespace npuscope::schema
