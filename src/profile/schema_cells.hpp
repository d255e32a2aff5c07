// Hands a cell of the schema to a writer, as one of the few things that files have: a number, a
// truth value, a text, or nothing.
//
//   add_cell(source, out, Field::cell(source, row));
//
//   out.nothing()  out.boolean(true)  out.number(3)  out.number(2.5)  out.text("lives as long as
//   the profile")  out.copy("does not");  out.interned(id), where there is one, instead of text
#pragma once

#include "profile/names.hpp"
#include "profile/schema_table.hpp"

namespace npuscope::schema {

// What has stable names.
template <class Cell>
concept NamedEnum =
    std::is_enum_v<Cell> && !std::is_same_v<Cell, StringId> && !std::is_same_v<Cell, PathId>;

template <class Out, class Cell>
void add_cell(const Source& source, Out& out, const Cell& cell) {
  if constexpr (std::is_same_v<Cell, bool>) {
    out.boolean(cell);
  } else if constexpr (std::is_arithmetic_v<Cell>) {
    out.number(cell);
  } else if constexpr (std::is_same_v<Cell, Id>) {
    cell.row == no_row ? out.nothing() : out.number(cell.row);
  } else if constexpr (std::is_same_v<Cell, RowOf>) {
    out.number(cell.row);
  } else if constexpr (std::is_same_v<Cell, Sum>) {
    std::int64_t exact = 0;
    const bool fits = !__builtin_add_overflow(cell.left, cell.right, &exact);
    fits ? out.number(exact) : out.number(double(cell.left) + double(cell.right));
  } else if constexpr (std::is_same_v<Cell, StringId>) {
    if constexpr (requires { out.interned(cell); }) {
      out.interned(cell);
    } else {
      out.text(source.text(cell));
    }
  } else if constexpr (std::is_same_v<Cell, PathId>) {
    out.text(source.paths()[StringId(index_of(cell))]);
  } else if constexpr (NamedEnum<Cell>) {
    out.text(stable_name(cell));
  } else if constexpr (std::is_same_v<Cell, std::string>) {
    out.copy(cell);
  } else {
    out.text(cell);
  }
}
template <class Out, class Cell>
void add_cell(const Source& source, Out& out, const std::optional<Cell>& cell) {
  cell ? add_cell(source, out, *cell) : out.nothing();
}

}  // namespace npuscope::schema
