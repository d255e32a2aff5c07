// Numbers about a profile and its spans, and arrows between them.
#include "query/columns.hpp"
#include "query/tables.hpp"

namespace npuscope::query {
namespace {

// Counts have no clock.
std::uint32_t clock_of(MeasureKind kind, ClockId clock) {
  return kind == MeasureKind::count ? no_key : index_of(clock);
}

TableType measures_table() {
  constexpr auto table = &Profile::measures;
  return {"measures",
          "a number about the profile, a unit, an op, a span or a phase",
          {
              enum_column<[](const Source& s, Row r) { return s.profile.measures[r].subject; }>(
                  "subject", "profile, unit, op, span, phase"),
              integer_column<[](const Source& s, Row r) {
                return std::int64_t(s.profile.measures[r].subject_id);
              }>("subject_id", "id in the table of its subject"),
              id_column<[](const Source& s, Row r) { return s.profile.measures[r].instance; }>(
                  "inference", "which inference; NULL: all of them"),
              name_column<table, &Measure::what>("name", "what is counted: \"ddr read bytes\""),
              enum_column<[](const Source& s, Row r) { return s.profile.measures[r].kind; }>(
                  "kind", "wall, span, active, work, unit_busy, domain, dominant_path, count"),
              enum_column<[](const Source& s, Row r) { return s.profile.measures[r].origin; }>(
                  "origin", "measured, counter, estimated, simulated, derived"),
              id_column<[](const Source& s, Row r) {
                const Measure& measure = s.profile.measures[r];
                return clock_of(measure.kind, measure.clock);
              }>("clock", "clocks.id; NULL: no time"),
              any_column<[](const Source& s, Row r, Output& out) {
                out.real(s.profile.measures[r].value);
              }>("value", Type::real, "the number"),
          },
          rows_of<table>};
}

TableType argument_keys_table() {
  return {"argument_keys",
          "what arguments of spans are called",
          {
              row_column("its number"),
              interned_column<[](const Source& s, Row r) {
                return std::optional(s.argument_keys()[r].name);
              }>("name", "as the trace has it"),
              enum_column<[](const Source& s, Row r) { return s.argument_keys()[r].type; }>(
                  "type", "null, boolean, integer, unsigned_integer, number, text, json"),
          },
          [](const Source& s) { return s.argument_keys().size(); }};
}

TableType span_columns_table() {
  return {
      "span_columns",
      "a number that (nearly) every span has",
      {
          row_column("its number"),
          interned_column<[](const Source& s, Row r) {
            return std::optional(s.profile.spans.measures[r].what);
          }>("name", "what is counted: \"dominant path\""),
          enum_column<[](const Source& s, Row r) { return s.profile.spans.measures[r].kind; }>(
              "kind", "as of measures"),
          enum_column<[](const Source& s, Row r) { return s.profile.spans.measures[r].origin; }>(
              "origin", "as of measures"),
          id_column<[](const Source& s, Row r) {
            const MeasureColumn& column = s.profile.spans.measures[r];
            return clock_of(column.kind, column.clock);
          }>("clock", "clocks.id; NULL: no time"),
      },
      [](const Source& s) { return s.profile.spans.measures.size(); }};
}

TableType flows_table() {
  constexpr auto table = &Profile::flows;
  return {"flows",
          "an arrow between two spans",
          {
              id_column<[](const Source& s, Row r) { return index_of(s.profile.flows[r].from); }>(
                  "from_span", "spans.id"),
              id_column<[](const Source& s, Row r) { return index_of(s.profile.flows[r].to); }>(
                  "to_span", "spans.id"),
              enum_column<[](const Source& s, Row r) { return s.profile.flows[r].kind; }>(
                  "kind", "data, reuse, flow (the trace does not say), transfer, order"),
              known_column<table, &Flow::name>("name", "as the trace has it"),
              known_column<table, &Flow::category>("category", "as the trace has it"),
          },
          rows_of<table>};
}

TableType counter_series_table() {
  return {"counter_series",
          "what is sampled",
          {
              row_column("its number"),
              id_column<[](const Source& s, Row r) {
                return index_of(s.profile.counters.series[r].unit);
              }>("unit", "units.id; NULL: of the whole profile"),
              interned_column<[](const Source& s, Row r) {
                return std::optional(s.profile.counters.series[r].name);
              }>("name", "\"VTCM alloc\""),
              interned_column<[](const Source& s, Row r) {
                return known(s.profile.counters.series[r].part);
              }>("part", "of a counter with several values, the value's own name"),
              interned_column<[](const Source& s, Row r) {
                return known(s.profile.counters.series[r].quantity);
              }>("quantity", "what its values count; empty: the trace is silent"),
          },
          [](const Source& s) { return s.profile.counters.series.size(); }};
}

TableType counter_samples_table() {
  return {"counter_samples",
          "one sample of a series",
          {
              integer_column<[](const Source& s, Row r) {
                return std::int64_t(s.profile.counters.of[r]);
              }>("series", "counter_series.id"),
              integer_column<[](const Source& s, Row r) { return s.profile.counters.time[r]; }>(
                  "time", "ticks of the base clock"),
              any_column<[](const Source& s, Row r, Output& out) {
                out.real(s.profile.counters.value[r]);
              }>("value", Type::real, "holds until the next sample"),
          },
          [](const Source& s) { return s.profile.counters.size(); }};
}

}  // namespace

std::vector<TableType> number_tables() {
  std::vector<TableType> tables{argument_keys_table(),  span_columns_table(),
                                measures_table(),       flows_table(),
                                counter_series_table(), counter_samples_table()};
  // Series are counted from 0 and always there: they group as well as ids do.
  tables.back().columns.front().keys.of = [](const Source& s, Row r) {
    return s.profile.counters.of[r];
  };
  return tables;
}

}  // namespace npuscope::query
