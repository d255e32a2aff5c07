// The profile's own tables, by its schema. What lies there as a column is looked at; the rest is
// made when it is asked for.
#include <algorithm>
#include <limits>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "columns.hpp"
#include "profile/names.hpp"
#include "profile/schema.hpp"
#include "report/document/quantity.hpp"
#include "report/ops/ops_table.hpp"
#include "report/query/query_cells.hpp"

namespace npuscope::python {
namespace {

using schema::Row;

// A profile and what the getters look up in it, as long as any of its columns lives.
struct HeldProfile {
  explicit HeldProfile(std::shared_ptr<const Profile> of)
      : profile(std::move(of)), source(*profile) {
    source.paths();
    source.argument_keys();
  }

  std::shared_ptr<const Profile> profile;
  schema::Source source;
};

struct Numbers {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::int32_t> codes;
  std::vector<std::uint8_t> bytes, missing;
  std::shared_ptr<const HeldProfile> held;
};

template <class Cell>
std::optional<Cell> known_cell(const std::optional<Cell>& cell) {
  return cell;
}
template <class Cell>
std::optional<Cell> known_cell(const Cell& cell) {
  return cell;
}
std::optional<std::int64_t> known_cell(schema::Id id) {
  return id.row == schema::no_row ? std::nullopt : std::optional(std::int64_t(id.row));
}
std::optional<std::int64_t> known_cell(schema::RowOf row) { return std::int64_t(row.row); }

// Texts by their number in a pool, each once, in the order of the rows.
class Dictionary {
 public:
  explicit Dictionary(std::size_t ids) : codes_(ids, -1) {}

  template <class TextOf>
  std::int32_t code_of(std::size_t id, const TextOf& text_of) {
    if (codes_[id] < 0) {
      codes_[id] = count_++;
      texts_.add(valid_utf8(text_of()));
    }
    return codes_[id];
  }
  std::shared_ptr<const Column> texts() && {
    if (count_ == 0) texts_.add(std::string());  // of texts, also where there is none
    return std::make_shared<const Column>(std::move(texts_).build());
  }

 private:
  std::vector<std::int32_t> codes_;
  std::int32_t count_ = 0;
  ColumnBuilder texts_{ColumnHead{.name = "item"}};
};

template <class Field>
using CellType = typename schema::CellOf<Field>::Cell;

template <class Field>
inline constexpr bool is_enumerated =
    std::is_same_v<CellType<Field>, StringId> || std::is_same_v<CellType<Field>, schema::PathId> ||
    (std::is_enum_v<CellType<Field>> && !schema::RowEnum<CellType<Field>>);

// StringId, PathId and enumerations: few texts, many rows.
template <class Field>
Column coded_column(ColumnHead head, const std::shared_ptr<const HeldProfile>& held,
                    std::size_t rows) {
  using Cell = CellType<Field>;
  const schema::Source& source = held->source;
  constexpr std::size_t most_names = 256;
  std::size_t ids = most_names;
  if constexpr (std::is_same_v<Cell, StringId>) ids = source.profile.strings.size();
  if constexpr (std::is_same_v<Cell, schema::PathId>) ids = source.paths().size();
  Dictionary dictionary(ids);
  auto block = std::make_shared<Numbers>();
  block->held = held;
  block->codes.reserve(rows);
  for (Row row = 0; row < rows; ++row) {
    const auto cell = known_cell(Field::cell(source, row));
    block->codes.push_back(
        !cell ? -1 : dictionary.code_of(std::size_t(*cell), [&]() -> std::string_view {
          if constexpr (std::is_same_v<Cell, StringId>)
            return source.text(*cell);
          else if constexpr (std::is_same_v<Cell, schema::PathId>)
            return source.paths()[StringId(*cell)];
          else
            return stable_name(*cell);
        }));
  }
  Column column{std::move(head)};
  column.type = Type::codes;
  column.size = rows;
  column.values = block->codes.data();
  column.items = std::move(dictionary).texts();
  column.owner = std::move(block);
  return column;
}

// The numbers of a column that lies in the profile; ids that may be of no row have a mask.
template <class T>
Column seen_column(ColumnHead head, const std::shared_ptr<const HeldProfile>& held,
                   const npuscope::Column<T>& values) {
  Column column{std::move(head)};
  column.size = values.size();
  column.values = values.data();
  column.owner = held;
  if constexpr (std::is_same_v<T, std::int64_t>) {
    column.type = Type::int64;
  } else {
    column.type = Type::uint32;
    const auto is_none = [](T id) { return index_of(id) == schema::no_row; };
    if (std::ranges::none_of(values, is_none)) return column;
    auto block = std::make_shared<Numbers>();
    block->held = held;
    for (const T id : values) block->missing.push_back(is_none(id) ? 1 : 0);
    column.missing = block->missing.data();
    column.owner = std::move(block);
  }
  return column;
}

template <class Field>
Column copied_column(ColumnHead head, const std::shared_ptr<const HeldProfile>& held,
                     std::size_t rows) {
  ColumnBuilder builder(std::move(head));
  for (Row row = 0; row < rows; ++row) {
    const auto cell = known_cell(Field::cell(held->source, row));
    if (!cell) {
      builder.add({});
    } else if constexpr (std::is_same_v<CellType<Field>, schema::Sum>) {
      std::int64_t sum = 0;
      const bool fits = !__builtin_add_overflow(cell->left, cell->right, &sum);
      builder.add(fits ? report::Value(sum) : double(cell->left) + double(cell->right));
    } else if constexpr (std::is_same_v<CellType<Field>, std::string_view> ||
                         std::is_same_v<CellType<Field>, std::string>) {
      builder.add(std::string(*cell));
    } else {
      builder.add(*cell);
    }
  }
  return std::move(builder).build(std::is_floating_point_v<CellType<Field>>);
}

template <class Get>
struct InSpansOf : std::false_type {};
template <class T>
struct InSpansOf<schema::InSpans<T>>
    : std::bool_constant<std::is_same_v<T, std::int64_t> || schema::RowEnum<T>> {};

ColumnHead head_of(const char* name, schema::FieldUnit unit, const char* meaning,
                   const Profile& profile) {
  using schema::FieldUnit;
  ColumnHead head{.name = name, .label = name};
  head.meaning = meaning;
  head.unit = unit == FieldUnit::ticks ? report::unit_of(profile, profile.base_clock)
                                       : schema::name_of(unit);
  if (unit == FieldUnit::ticks || unit == FieldUnit::cycles) head.quantity = "time";
  if (unit == FieldUnit::bytes) head.quantity = "bytes";
  if (unit == FieldUnit::hertz) head.quantity = "hertz";
  return head;
}

template <class Field>
Table::Make maker_of(const std::shared_ptr<const HeldProfile>& held, std::size_t rows) {
  using Get = typename Field::Get;
  return [held, rows](ColumnHead head) {
    if constexpr (InSpansOf<Get>::value) {
      return seen_column(std::move(head), held, held->profile->spans.*(Field::declared.get.column));
    } else if constexpr (is_enumerated<Field>) {
      return coded_column<Field>(std::move(head), held, rows);
    } else {
      return copied_column<Field>(std::move(head), held, rows);
    }
  };
}

// Numbers that every span has, under the names that columns of ops have.
void add_measures(Table& table, const std::shared_ptr<const HeldProfile>& held) {
  const Profile& profile = *held->profile;
  std::vector<std::string> names;
  for (const MeasureColumn& measure : profile.spans.measures) {
    names.push_back(report::ops_key(std::string(profile.text(measure.what))));
  }
  names = report::distinct_names(names);
  for (const MeasureColumn& measure : profile.spans.measures) {
    ColumnHead head{.name = names[&measure - profile.spans.measures.data()]};
    head.label = valid_utf8(profile.text(measure.what));
    head.kind = stable_name(measure.kind);
    head.origin = stable_name(measure.origin);
    head.quantity = stable_name(measure.meaning.quantity);
    if (measure.kind != MeasureKind::count) head.unit = report::unit_of(profile, measure.clock);
    if (measure.meaning.quantity == NumberQuantity::bytes) head.unit = "bytes";
    table.add(std::move(head), [held, &measure](ColumnHead of) {
      Column column = seen_column(std::move(of), held, measure.values);
      const auto is_missing = [](std::int64_t value) { return value == MeasureColumn::missing; };
      if (std::ranges::none_of(measure.values, is_missing)) return column;
      auto block = std::make_shared<Numbers>();
      block->held = held;
      for (const std::int64_t value : measure.values) block->missing.push_back(is_missing(value));
      column.missing = block->missing.data();
      column.owner = std::move(block);
      return column;
    });
  }
}

template <class OfTable>
constexpr bool is_of_rows() {
  bool of_rows = true;
  schema::each_field<OfTable>([&](auto field) { of_rows = of_rows && !field.is_several; });
  return of_rows;
}

template <class OfTable>
Table made_table(const std::shared_ptr<const HeldProfile>& held) {
  const std::size_t rows = OfTable::rows(held->source);
  Table table(OfTable::table.name, rows);
  schema::each_field<OfTable>([&]<class Field>(Field) {
    if (!Field::is_there(*held->profile)) return;
    table.add(head_of(Field::name, Field::unit, Field::meaning, *held->profile),
              maker_of<Field>(held, rows));
  });
  if (table.name() == "spans") add_measures(table, held);
  return table;
}

}  // namespace

std::vector<std::string> profile_table_names() {
  std::vector<std::string> names;
  schema::each_table([&]<class OfTable>(OfTable) {
    if constexpr (is_of_rows<OfTable>()) names.emplace_back(OfTable::table.name);
  });
  return names;
}

Result<Table> profile_table(std::shared_ptr<const Profile> profile, const std::string& name) {
  const auto held = std::make_shared<const HeldProfile>(std::move(profile));
  std::optional<Table> found;
  schema::each_table([&]<class OfTable>(OfTable) {
    if constexpr (is_of_rows<OfTable>()) {
      if (name == OfTable::table.name) found = made_table<OfTable>(held);
    }
  });
  if (found) return std::move(*found);
  std::string all;
  for (const std::string& each : profile_table_names()) all += (all.empty() ? "" : ", ") + each;
  return usage_error("table '{}': a profile has no such table{}; it has {}", name,
                     did_you_mean(all, name), all);
}

}  // namespace npuscope::python
