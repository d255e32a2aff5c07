// A field of the schema as a column of SQL:  column_of<schema::FieldOf<Table, 3>>()
#pragma once

#include "profile/schema_cells.hpp"
#include "query/table.hpp"

namespace npuscope::query {

using schema::NamedEnum;

// All values without a name share one key, as they share the name "unknown".
inline std::uint32_t key_of(NamedEnum auto value) {
  return std::uint32_t(std::min(std::size_t(value), stable_names(value).size()));
}
inline std::uint32_t key_of(StringId text) { return index_of(text); }
inline std::uint32_t key_of(schema::PathId path) { return index_of(path); }
inline std::uint32_t key_of(schema::Id id) { return id.row; }
inline std::uint32_t key_of(schema::RowOf row) { return row.row; }
template <class Cell>
std::uint32_t key_of(const std::optional<Cell>& cell) {
  return cell ? key_of(*cell) : no_key;
}

// How a key is read back, by the type of the cells.
template <class Cell>
struct TextOfKey {  // numbers: a key is itself the number
  static constexpr std::string_view (*text)(const Source&, std::uint32_t) = nullptr;
  static constexpr std::optional<std::uint32_t> (*find)(const Source&, std::string_view) = nullptr;
};
template <>
struct TextOfKey<StringId> {
  static std::string_view text(const Source& s, std::uint32_t key) { return s.text(StringId(key)); }
  static std::optional<std::uint32_t> find(const Source& s, std::string_view text) {
    const auto id = s.profile.strings.find(text);
    return id ? std::optional(index_of(*id)) : std::nullopt;
  }
};
template <>
struct TextOfKey<schema::PathId> {
  static std::string_view text(const Source& s, std::uint32_t key) {
    return s.paths()[StringId(key)];
  }
  static std::optional<std::uint32_t> find(const Source& s, std::string_view text) {
    const auto id = s.paths().find(text);
    return id ? std::optional(index_of(*id)) : std::nullopt;
  }
};
template <NamedEnum Enum>
struct TextOfKey<Enum> {
  static std::string_view text(const Source&, std::uint32_t key) { return stable_name(Enum(key)); }
  static std::optional<std::uint32_t> find(const Source&, std::string_view text) {
    if (const auto value = value_named<Enum>(text)) return std::uint32_t(*value);
    const auto unknown = std::uint32_t(stable_names(Enum{}).size());
    return text == stable_name(Enum(unknown)) ? std::optional(unknown) : std::nullopt;
  }
};

// "what it counts (wall, timer, unit_cycles)"
template <class Cell>
std::string meaning_of(const char* meaning) {
  std::string text = meaning;
  if constexpr (NamedEnum<Cell>) {
    const char* separator = " (";
    for (const char* name : stable_names(Cell{})) {
      text += std::exchange(separator, ", ");
      text += name;
    }
    text += ')';
  }
  return text;
}

template <class Field>
TableColumn column_of() {
  using Cells = schema::CellOf<Field, Source>;
  using Cell = typename Cells::Cell;
  TableColumn column{.name = Field::name,
                     .type = Cells::type,
                     .is_row = Field::is_row_number,
                     .unit = name_of(Field::unit),
                     .meaning = meaning_of<Cell>(Field::meaning),
                     .is_nullable = Cells::is_nullable,
                     .held_by = Field::held_by};
  if constexpr (Field::is_several) {
    return column;
  } else {
    column.read = [](const Source& s, Row row, Output& out) {
      add_cell(s, out, Field::cell(s, row));
    };
    if constexpr (std::is_same_v<typename Cells::Optional, schema::RowOf>) {
      column.number = [](const Source& s, Row row) {
        return std::int64_t(Field::cell(s, row).row);
      };
    } else if constexpr (std::is_integral_v<typename Cells::Optional>) {
      column.number = [](const Source& s, Row row) { return std::int64_t(Field::cell(s, row)); };
    }
    if constexpr (requires(Cell cell) { key_of(cell); } && !Field::is_row_number) {
      column.keys = {.of = [](const Source& s, Row row) { return key_of(Field::cell(s, row)); },
                     .text = TextOfKey<Cell>::text,
                     .find = TextOfKey<Cell>::find};
    }
    if constexpr (requires(const Source& s) { Field::declared.get.where(s, Row{}); }) {
      column.where = [](const Source& s, Row row) { return Field::declared.get.where(s, row); };
    }
    return column;
  }
}

}  // namespace npuscope::query
