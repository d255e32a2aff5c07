// Columns and tables that take an analysis to compute, declared as those of the schema are: SQL has
// them beside what a profile holds. A table of a name that the schema has adds its columns to it.
#pragma once

#include "npuscope/analysis/timeline.hpp"
#include "profile/schema_table.hpp"
#include "query/table.hpp"

namespace npuscope {

inline std::span<const char* const> stable_names(Role) {
  static constexpr const char* names[] = {"work", "wait", "frame", "overlay"};
  return names;
}

}  // namespace npuscope

namespace npuscope::query {

using schema::field, schema::FieldUnit, schema::of, schema::Row;

// A number of the span's own.
template <analysis::Route route>
std::optional<std::int64_t> traffic_of_span(const Source& s, Row row) {
  const MeasureColumn* column = s.traffic(route);
  const bool is_known = column != nullptr && row < column->values.size() &&
                        column->values[row] != MeasureColumn::missing;
  return is_known ? std::optional(column->values[row]) : std::nullopt;
}

inline schema::Table derived_spans() {
  return schema::table<Source>(
      "spans", "", [](const Source& s) { return s.profile.spans.size(); },
      field("engine", "the hardware that it uses: what its op says, else its unit",
            [](const Source& s, Row row) { return analysis::engine_of(s.profile, row); }),
      field("role", "what it counts as; a frame encloses work, an overlay runs beside it",
            [](const Source& s, Row row) { return analysis::role_of(s.profile.spans.kind[row]); }),
      field("own_duration", FieldUnit::ticks,
            "duration less what is nested inside: over spans of role work it adds up to work",
            [](const Source& s, Row row) { return s.self_times()[row]; }),
      field("ddr_read_bytes", FieldUnit::bytes, "its number of role ddr_read",
            of<traffic_of_span<analysis::Route::ddr_read>>),
      field("ddr_write_bytes", FieldUnit::bytes, "its number of role ddr_write",
            of<traffic_of_span<analysis::Route::ddr_write>>),
      field("vtcm_read_bytes", FieldUnit::bytes, "its number of role vtcm_read",
            of<traffic_of_span<analysis::Route::vtcm_read>>),
      field("vtcm_write_bytes", FieldUnit::bytes, "its number of role vtcm_write",
            of<traffic_of_span<analysis::Route::vtcm_write>>));
}

template <analysis::Route route>
auto traffic_of_unit(const analysis::UnitRow& row) {
  return row.traffic.of(route);
}

inline schema::Table unit_times() {
  using analysis::Route, analysis::UnitRow;
  return schema::table<Source>(
      "unit_times", "how busy a unit was, as npuscope show has it: units that have work or waits",
      [](const Source& s) -> const auto& { return s.unit_times(); },
      field("unit", "units.id", of<&UnitRow::unit>),
      field("path", "units.path",
            [](const Source& s, Row row) {
              const std::uint32_t unit = index_of(s.unit_times()[row].unit);
              return unit < s.profile.units.size() ? std::optional(s.path_of(unit)) : std::nullopt;
            }),
      field("busy", FieldUnit::ticks,
            "length of the union of its work (unit_busy): never more than the wall",
            of<&UnitRow::busy>),
      field("waiting", FieldUnit::ticks, "length of the union of its waits where it does not work",
            of<&UnitRow::waiting>),
      field("work", FieldUnit::ticks, "sum of its work, nested slices once", of<&UnitRow::work>),
      field("spans", "of work", of<&UnitRow::spans>),
      field("dominant_path", FieldUnit::ticks, "its share of the critical path",
            of<&UnitRow::dominant_path>),
      field("ddr_read_bytes", FieldUnit::bytes, "that its work reads from DDR",
            of<traffic_of_unit<Route::ddr_read>>),
      field("ddr_write_bytes", FieldUnit::bytes, "that its work writes to DDR",
            of<traffic_of_unit<Route::ddr_write>>),
      field("vtcm_read_bytes", FieldUnit::bytes, "that its work reads from VTCM",
            of<traffic_of_unit<Route::vtcm_read>>),
      field("vtcm_write_bytes", FieldUnit::bytes, "that its work writes to VTCM",
            of<traffic_of_unit<Route::vtcm_write>>));
}

}  // namespace npuscope::query
