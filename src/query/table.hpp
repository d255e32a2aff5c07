// What SQL asks of a field of the schema (profile/schema_table.hpp) beside its cells.
//
// A column whose values are small numbers inside (ids, interned names, enumerations) has keys:
// equal keys are equal values. By them rows are grouped, put in order and found without comparing
// anything (row_plan.hpp).
//
//   key_of(kind, kind.get(source, row))        // 8
//   text_of_key(source, kind, 8)               // "slice"
//   find_key(source, kind, "slice")            // 8; none: no row can have this text
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "npuscope/analysis/analysis.hpp"
#include "profile/schema_table.hpp"
#include "profile/self_times.hpp"

namespace npuscope::query {

// A profile as its tables see it: with what is derived from it only when a query asks.
class Source : public schema::Source {
 public:
  explicit Source(const Profile& with) : schema::Source(with), analysis_(with) {
    for (const MeasureColumn& column : with.spans.measures) {
      const auto route = analysis::memory_route_of(column.meaning.role);
      if (route && traffic(*route) == nullptr) traffic_[std::size_t(*route)] = &column;
    }
  }

  // Asked for row by row, so that the analysis is not.
  const SelfTimes& self_times() const {
    if (self_times_ == nullptr) self_times_ = &analysis_.self_times();
    return *self_times_;
  }
  const std::vector<analysis::UnitRow>& unit_times() const { return analysis_.units().units; }

  // The spans' bytes of one of Traffic::routes; null where the profile has none.
  const MeasureColumn* traffic(analysis::Route route) const { return traffic_[std::size_t(route)]; }

 private:
  analysis::Analysis analysis_;
  const MeasureColumn* traffic_[std::size(analysis::Traffic::routes)] = {};
  mutable const SelfTimes* self_times_ = nullptr;
};

using schema::Field, schema::Type, schema::Row;
inline constexpr std::uint32_t no_key = std::numeric_limits<std::uint32_t>::max();  // NULL

inline bool has_keys(const Field& field) {
  return (field.type == Type::id && !field.is_row_number) || field.type == Type::name ||
         field.type == Type::interned || field.type == Type::path;
}
// Whether its cells are integers and never NULL: they can be compared.
inline bool has_numbers(const Field& field) {
  const bool is_integer = field.type == Type::boolean || field.type == Type::integer ||
                          field.type == Type::unsigned_integer || field.type == Type::id;
  return is_integer && !field.is_nullable && field.get != nullptr;
}

// All values without a name share one key, as they share the name "unknown".
inline std::uint32_t key_of(const Field& field, const schema::Cell& cell) {
  if (cell.type == Type::nothing) return no_key;
  const auto key = std::uint32_t(cell.integer);
  return cell.type != Type::name ? key : std::min(key, std::uint32_t(field.names.size()));
}
inline std::uint32_t key_at(const Source& source, const Field& field, Row row) {
  return key_of(field, field.get(source, row));
}

// Of a column of texts; in others a key is itself the number.
inline std::string_view text_of_key(const Source& source, const Field& field, std::uint32_t key) {
  return source.text(field, schema::coded(field.type, key));
}
inline std::optional<std::uint32_t> find_key(const Source& source, const Field& field,
                                             std::string_view text) {
  if (field.type == Type::name) {
    if (const auto place = field.place_of(text)) return std::uint32_t(*place);
    const auto unknown = std::uint32_t(field.names.size());
    return text == field.name_at(unknown) ? std::optional(unknown) : std::nullopt;
  }
  const auto& texts = field.type == Type::path ? source.paths() : source.profile.strings;
  const auto id = texts.find(text);
  return id ? std::optional(index_of(*id)) : std::nullopt;
}

}  // namespace npuscope::query
