// The table that everything is about: a row is one execution of an op on one unit.
#include "npuscope/analysis/timeline.hpp"
#include "query/columns.hpp"
#include "query/tables.hpp"

namespace npuscope::query {
namespace {

constexpr const char* roles[] = {"work", "wait", "frame", "overlay"};

std::uint32_t role_key(const Source& source, Row row) {
  return std::uint32_t(analysis::role_of(source.profile.spans.kind[row]));
}

TableColumn role_column() {
  return {.name = "role",
          .type = Type::text,
          .meaning = "what it counts as: work, wait, frame (encloses work), overlay (beside it)",
          .read = [](const Source& s, Row row, Output& out) { out.text(roles[role_key(s, row)]); },
          .keys = {
              .of = role_key,
              .text = [](const Source&, std::uint32_t key) { return std::string_view(roles[key]); },
              .find =
                  [](const Source&, std::string_view text) {
                    const auto found = std::find(std::begin(roles), std::end(roles), text);
                    return found == std::end(roles)
                               ? std::optional<std::uint32_t>()
                               : std::optional(std::uint32_t(found - std::begin(roles)));
                  }}};
}

TableColumn unit_path_column() {
  return {
      .name = "unit_path",
      .type = Type::text,
      .meaning = "the unit's name within its parents': \"card 0 > core 3 > HVX 1\"",
      .read =
          [](const Source& s, Row row, Output& out) {
            if (s.unit_of(row) == nullptr) return out.nothing();
            out.text(s.paths()[s.path_of(index_of(s.profile.spans.unit[row]))]);
          },
      .keys = {.of =
                   [](const Source& s, Row row) {
                     if (s.unit_of(row) == nullptr) return no_key;
                     return std::uint32_t(s.path_of(index_of(s.profile.spans.unit[row])));
                   },
               .text = [](const Source& s, std::uint32_t key) { return s.paths()[StringId(key)]; },
               .find =
                   [](const Source& s, std::string_view text) {
                     const auto id = s.paths().find(text);
                     return id ? std::optional(std::uint32_t(*id)) : std::nullopt;
                   }}};
}

// As SQL adds: a sum beyond 64 bits is a real number.
void read_end(const Source& source, Row row, Output& out) {
  const std::int64_t start = source.profile.spans.start[row];
  const std::int64_t duration = source.profile.spans.duration[row];
  std::int64_t end = 0;
  if (__builtin_add_overflow(start, duration, &end))
    return out.real(double(start) + double(duration));
  out.integer(end);
}

void read_processor_cycles(const Source& source, Row row, Output& out) {
  const Spans& spans = source.profile.spans;
  if (spans.processor_cycles.size() != spans.size() || spans.processor_cycles[row] < 0) {
    return out.nothing();
  }
  out.integer(spans.processor_cycles[row]);
}

std::uint32_t inference_of(const Source& source, Row row) {
  const Spans& spans = source.profile.spans;
  return spans.instance.size() == spans.size() ? spans.instance[row] : no_key;
}

template <auto member>
std::optional<StringId> of_op(const Source& source, Row row) {
  const Op* op = source.op_of(row);
  return op != nullptr ? std::optional((*op).*member) : std::nullopt;
}

template <auto member>
std::optional<StringId> known_of_op(const Source& source, Row row) {
  const Op* op = source.op_of(row);
  return op != nullptr ? known((*op).*member) : std::nullopt;
}

template <std::size_t traffic>
void read_bytes(const Source& source, Row row, Output& out) {
  const MeasureColumn* column = source.traffic(traffic);
  if (column == nullptr || row >= column->values.size() ||
      column->values[row] == MeasureColumn::missing) {
    return out.nothing();
  }
  out.integer(column->values[row]);
}

template <auto column>
TableColumn lying_in(TableColumn of) {
  of.where = [](const Source& s, Row row) {
    return static_cast<const void*>(&(s.profile.spans.*column)[row]);
  };
  return of;
}

std::vector<TableColumn> exported_columns() {
  std::vector<TableColumn> columns{
      row_column("its number"),
      id_column<[](const Source& s, Row r) { return index_of(s.profile.spans.unit[r]); }>(
          "unit", "units.id"),
      id_column<[](const Source& s, Row r) { return index_of(s.profile.spans.op[r]); }>("op",
                                                                                        "ops.id"),
      enum_column<[](const Source& s, Row r) { return s.profile.spans.kind[r]; }>(
          "kind",
          "op, sync, barrier, transfer, inference, activation, host, dma_wait, slice, "
          "async, instant, kernel, copy, communication, runtime_call, wait, annotation"),
      integer_column<[](const Source& s, Row r) { return s.profile.spans.start[r]; }>(
          "start", "ticks of the base clock"),
      integer_column<[](const Source& s, Row r) { return s.profile.spans.duration[r]; }>(
          "duration", "ticks of the base clock"),
      any_column<read_processor_cycles>("processor_cycles", Type::integer,
                                        "cycles of the unit's own clock"),
      id_column<inference_of>("inference", "which inference, from 0"),
  };
  columns[1] = lying_in<&Spans::unit>(columns[1]);
  columns[2] = lying_in<&Spans::op>(columns[2]);
  columns[3] = lying_in<&Spans::kind>(columns[3]);
  columns[4] = lying_in<&Spans::start>(columns[4]);
  columns[5] = lying_in<&Spans::duration>(columns[5]);
  return columns;
}

}  // namespace

TableType spans_table() {
  TableType table{"spans", "one execution of an op (or a wait) on one unit", exported_columns(),
                  [](const Source& s) { return s.profile.spans.size(); }};
  const TableColumn readable[] = {
      unit_path_column(),
      enum_column<[](const Source& s, Row r) {
        const Unit* unit = s.unit_of(r);
        return unit != nullptr ? std::optional(unit->engine) : std::nullopt;
      }>("unit_engine", "units.engine of its unit"),
      interned_column<of_op<&Op::name>>("op_name", "ops.name of its op"),
      interned_column<known_of_op<&Op::kind>>("op_kind", "ops.kind of its op"),
      interned_column<known_of_op<&Op::node>>("node", "ops.node of its op"),
      any_column<read_end>("end", Type::integer, "start + duration"),
      enum_column<[](const Source& s, Row r) { return analysis::engine_of(s.profile, r); }>(
          "engine", "the hardware that it uses: what its op says, else its unit"),
      role_column(),
      integer_column<[](const Source& s, Row r) { return s.analysis().self_times()[r]; }>(
          "own_duration",
          "duration less what is nested inside: over spans of role work it adds up to work"),
      any_column<read_bytes<0>>("ddr_read_bytes", Type::integer, "its number \"ddr read bytes\""),
      any_column<read_bytes<1>>("ddr_write_bytes", Type::integer, "its number \"ddr write bytes\""),
      any_column<read_bytes<2>>("vtcm_read_bytes", Type::integer, "its number \"vtcm read bytes\""),
      any_column<read_bytes<3>>("vtcm_write_bytes", Type::integer,
                                "its number \"vtcm write bytes\""),
  };
  table.columns.insert(table.columns.end(), std::begin(readable), std::end(readable));
  return table;
}

}  // namespace npuscope::query
