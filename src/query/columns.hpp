// Columns of the usual sorts, for the tables of this folder:
//
//   name_column<&Profile::ops, &Op::kind>("kind", "kernel; in a generic trace the category")
//   integer_column<[](const Source& s, Row r) { return s.profile.spans.start[r]; }>("start", "…")
#pragma once

#include "profile/names.hpp"
#include "query/table.hpp"

namespace npuscope::query {

inline std::string_view text_of_name(const Source& source, std::uint32_t key) {
  return source.text(StringId(key));
}
inline std::optional<std::uint32_t> find_name(const Source& source, std::string_view text) {
  const auto id = source.profile.strings.find(text);
  return id ? std::optional(std::uint32_t(*id)) : std::nullopt;
}

inline TableColumn row_column(const char* meaning) {
  return {.name = "id",
          .type = Type::integer,
          .meaning = meaning,
          .read = [](const Source&, Row row, Output& out) { out.integer(row); },
          .number = [](const Source&, Row row) { return std::int64_t(row); },
          .is_row = true};
}

// `get` gives a std::int64_t.
template <auto get>
TableColumn integer_column(const char* name, const char* meaning) {
  return {.name = name,
          .type = Type::integer,
          .meaning = meaning,
          .read = [](const Source& s, Row row, Output& out) { out.integer(get(s, row)); },
          .number = [](const Source& s, Row row) { return std::int64_t(get(s, row)); }};
}

// `read` hands on what it likes.
template <auto read_cell>
TableColumn any_column(const char* name, Type type, const char* meaning) {
  return {.name = name,
          .type = type,
          .meaning = meaning,
          .read = [](const Source& s, Row row, Output& out) { read_cell(s, row, out); }};
}

// `get` gives a std::uint32_t, the largest of which is NULL.
template <auto get>
TableColumn id_column(const char* name, const char* meaning) {
  return {.name = name,
          .type = Type::integer,
          .meaning = meaning,
          .read = [](const Source& s, Row row, Output& out) { out.id(get(s, row)); },
          .keys = {.of = [](const Source& s, Row row) { return std::uint32_t(get(s, row)); }}};
}

// `get` gives an optional StringId.
template <auto get>
TableColumn interned_column(const char* name, const char* meaning) {
  return {.name = name,
          .type = Type::text,
          .meaning = meaning,
          .read =
              [](const Source& s, Row row, Output& out) {
                const std::optional<StringId> id = get(s, row);
                id ? out.text(s.text(*id)) : out.nothing();
              },
          .keys = {.of =
                       [](const Source& s, Row row) {
                         const std::optional<StringId> id = get(s, row);
                         return id ? std::uint32_t(*id) : no_key;
                       },
                   .text = text_of_name,
                   .find = find_name}};
}

// A text that is not known is NULL.
inline std::optional<StringId> known(StringId id) {
  return id == StringId::empty ? std::nullopt : std::optional(id);
}

template <auto table, auto member>
TableColumn known_column(const char* name, const char* meaning) {
  return interned_column<[](const Source& s, Row row) {
    return known((s.profile.*table)[row].*member);
  }>(name, meaning);
}

template <auto table, auto member>
TableColumn name_column(const char* name, const char* meaning) {
  return interned_column<[](const Source& s, Row row) {
    return std::optional<StringId>((s.profile.*table)[row].*member);
  }>(name, meaning);
}

// All values without a name share one key, as they share the name "unknown".
template <class Enum>
std::uint32_t key_of(Enum value) {
  return std::uint32_t(std::min(std::size_t(value), stable_names(value).size()));
}

// `get` gives an enumeration, or an optional one.
template <auto get>
TableColumn enum_column(const char* name, const char* meaning) {
  using Got = decltype(get(std::declval<const Source&>(), Row{}));
  constexpr bool is_optional = !std::is_enum_v<Got>;
  const auto value_of = [](const Source& s, Row row) {
    if constexpr (is_optional) {
      return get(s, row);
    } else {
      return std::optional<Got>(get(s, row));
    }
  };
  using Enum = typename decltype(value_of(std::declval<const Source&>(), Row{}))::value_type;
  return {
      .name = name,
      .type = Type::text,
      .meaning = meaning,
      .read =
          [](const Source& s, Row row, Output& out) {
            const std::optional<Enum> value = decltype(value_of){}(s, row);
            value ? out.text(stable_name(*value)) : out.nothing();
          },
      .keys = {.of =
                   [](const Source& s, Row row) {
                     const std::optional<Enum> value = decltype(value_of){}(s, row);
                     return value ? key_of(*value) : no_key;
                   },
               .text = [](const Source&,
                          std::uint32_t key) { return std::string_view(stable_name(Enum(key))); },
               .find = [](const Source&, std::string_view text) -> std::optional<std::uint32_t> {
                 if (const auto value = value_named<Enum>(text)) return std::uint32_t(*value);
                 const std::uint32_t unknown = std::uint32_t(stable_names(Enum{}).size());
                 return text == stable_name(Enum(unknown)) ? std::optional(unknown) : std::nullopt;
               }}};
}

// Texts that are not interned, where they lie in the profile.
template <auto get>
TableColumn text_column(const char* name, const char* meaning) {
  return {.name = name,
          .type = Type::text,
          .meaning = meaning,
          .read = [](const Source& s, Row row, Output& out) { out.text(get(s, row)); }};
}

template <auto table>
std::size_t rows_of(const Source& source) {
  return (source.profile.*table).size();
}

}  // namespace npuscope::query
