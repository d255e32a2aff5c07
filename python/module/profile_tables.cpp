// The profile's own tables, by its schema. What lies there as a column is looked at; the rest is
// made when it is asked for.
#include <algorithm>
#include <limits>
#include <span>

#include "base/near_names.hpp"
#include "base/text.hpp"
#include "columns.hpp"
#include "profile/names.hpp"
#include "profile/schema.hpp"
#include "report/document/document_value.hpp"
#include "report/ops/ops_table.hpp"
#include "report/query/query_output.hpp"

namespace npuscope::python {
namespace {

using schema::Field, schema::Row;

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

// Names, interned texts and paths: few texts, many rows.
Column coded_column(ColumnHead head, const std::shared_ptr<const HeldProfile>& held,
                    const Field& field, std::size_t rows) {
  const schema::Source& source = held->source;
  constexpr std::size_t most_names = 256;
  const std::size_t ids = field.type == schema::Type::interned ? source.profile.strings.size()
                          : field.type == schema::Type::path   ? source.paths().size()
                                                               : most_names;
  Dictionary dictionary(ids);
  auto block = std::make_shared<Numbers>();
  block->held = held;
  block->codes.reserve(rows);
  for (Row row = 0; row < rows; ++row) {
    const schema::Cell cell = field.get(source, row);
    block->codes.push_back(cell.type == schema::Type::nothing
                               ? -1
                               : dictionary.code_of(std::size_t(cell.integer),
                                                    [&] { return source.text(field, cell); }));
  }
  Column column{std::move(head)};
  column.type = Type::codes;
  column.size = rows;
  column.values = block->codes.data();
  column.items = std::move(dictionary).texts();
  column.owner = std::move(block);
  return column;
}

// The numbers of a column that lies in the profile; where `is_missing` says so of any, with a mask.
template <class T, class IsMissing>
Column seen_column(ColumnHead head, const std::shared_ptr<const HeldProfile>& held,
                   std::span<const T> values, const IsMissing& is_missing) {
  Column column{std::move(head)};
  column.type = std::is_same_v<T, std::int64_t> ? Type::int64 : Type::uint32;
  column.size = values.size();
  column.values = values.data();
  column.owner = held;
  if (std::ranges::none_of(values, is_missing)) return column;
  auto block = std::make_shared<Numbers>();
  block->held = held;
  for (const T value : values) block->missing.push_back(is_missing(value) ? 1 : 0);
  column.missing = block->missing.data();
  column.owner = std::move(block);
  return column;
}

struct AddToBuilder {
  ColumnBuilder& builder;

  void nothing() { builder.add({}); }
  void boolean(bool value) { builder.add(value); }
  void number(auto value) { builder.add(value); }
  void text(std::string_view value) { builder.add(std::string(value)); }
};

Column copied_column(ColumnHead head, const std::shared_ptr<const HeldProfile>& held,
                     const Field& field, std::size_t rows) {
  ColumnBuilder builder(std::move(head));
  AddToBuilder out{builder};
  for (Row row = 0; row < rows; ++row) {
    add_cell(held->source, field, field.get(held->source, row), out);
  }
  return std::move(builder).build(field.type == schema::Type::real);
}

ColumnHead head_of(const Field& field, const Profile& profile) {
  using schema::FieldUnit;
  const FieldUnit unit = field.unit;
  ColumnHead head{.name = field.name, .label = field.name};
  head.meaning = field.meaning;
  head.unit = unit == FieldUnit::ticks ? report::unit_of(profile, profile.base_clock)
                                       : schema::name_of(unit);
  if (unit == FieldUnit::ticks || unit == FieldUnit::cycles) head.quantity = "time";
  if (unit == FieldUnit::bytes) head.quantity = "bytes";
  if (unit == FieldUnit::hertz) head.quantity = "hertz";
  return head;
}

Column made_column(ColumnHead head, const std::shared_ptr<const HeldProfile>& held,
                   const Field& field, std::size_t rows) {
  const bool is_seen = field.where != nullptr;
  const void* values = is_seen ? field.where(held->source, 0) : nullptr;
  if (is_seen && field.type == schema::Type::integer) {
    return seen_column(std::move(head), held,
                       std::span(static_cast<const std::int64_t*>(values), rows),
                       [](std::int64_t) { return false; });
  }
  if (is_seen && field.type == schema::Type::id) {
    return seen_column(std::move(head), held,
                       std::span(static_cast<const std::uint32_t*>(values), rows),
                       [](std::uint32_t id) { return id == schema::no_row; });
  }
  return is_text(field.type) && field.type != schema::Type::text
             ? coded_column(std::move(head), held, field, rows)
             : copied_column(std::move(head), held, field, rows);
}

// Numbers that every span has, under the names that columns of ops have.
void add_measures(Table& table, const std::shared_ptr<const HeldProfile>& held) {
  const Profile& profile = *held->profile;
  std::vector<std::string> names;
  for (const MeasureColumn& measure : profile.spans.measures) {
    names.push_back(as_key(profile.text(measure.what)));
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
      return seen_column(std::move(of), held, std::span(measure.values),
                         [](std::int64_t value) { return value == MeasureColumn::missing; });
    });
  }
}

Table made_table(const std::shared_ptr<const HeldProfile>& held, const schema::Table& of) {
  const std::size_t rows = of.rows(held->source);
  Table table(of.name, rows);
  for (const Field& field : of.fields) {
    if (!field.is_there_in(*held->profile)) continue;
    table.add(head_of(field, *held->profile), [held, &field, rows](ColumnHead head) {
      return made_column(std::move(head), held, field, rows);
    });
  }
  if (table.name() == "spans") add_measures(table, held);
  return table;
}

}  // namespace

std::vector<std::string> profile_table_names() {
  std::vector<std::string> names;
  for (const schema::Table& table : schema::tables()) {
    if (!table.is_several()) names.emplace_back(table.name);
  }
  return names;
}

Result<Table> profile_table(std::shared_ptr<const Profile> profile, const std::string& name) {
  const auto held = std::make_shared<const HeldProfile>(std::move(profile));
  for (const schema::Table& table : schema::tables()) {
    if (!table.is_several() && name == table.name) return made_table(held, table);
  }
  std::string all;
  for (const std::string& each : profile_table_names()) all += (all.empty() ? "" : ", ") + each;
  return usage_error("table '{}': a profile has no such table{}; it has {}", name,
                     did_you_mean(all, name), all);
}

}  // namespace npuscope::python
