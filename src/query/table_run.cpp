// What a profile is of: its files, clocks, units and phases, and what its reader says about it.
#include <fmt/format.h>

#include "npuscope/analysis/units.hpp"
#include "npuscope/base/text.hpp"
#include "profile/numbered_phases.hpp"
#include "query/columns.hpp"
#include "query/tables.hpp"

namespace npuscope::query {
namespace {

// A text that is not known is NULL.
void known_text(std::string_view text, Output& out) {
  text.empty() ? out.nothing() : out.text(text);
}

// Names of files, and what is said of them, may be in another encoding.
void repaired_text(std::string_view text, Output& out) { out.copy(valid_utf8(text)); }

void read_inferences(const Source& source, Output& out) {
  if (source.profile.provenance.inferences == 0) return out.nothing();  // unknown
  out.copy(fmt::format("{}", source.profile.provenance.inferences));
}

struct Fact {
  const char* name;
  void (*read)(const Source&, Output&);
};
constexpr Fact facts[] = {
    {"schema", [](const Source&, Output& out) { out.text("1"); }},
    {"format", [](const Source& s, Output& out) { known_text(s.profile.provenance.format, out); }},
    {"version",
     [](const Source& s, Output& out) { known_text(s.profile.provenance.version, out); }},
    {"device", [](const Source& s, Output& out) { known_text(s.profile.provenance.device, out); }},
    {"graph", [](const Source& s, Output& out) { known_text(s.profile.provenance.graph, out); }},
    {"instrumentation",
     [](const Source& s, Output& out) { known_text(s.profile.provenance.instrumentation, out); }},
    {"inferences", read_inferences},
    {"temperature",
     [](const Source& s, Output& out) { out.text(stable_name(s.profile.provenance.temperature)); }},
};

TableType profile_table() {
  return {"profile",
          "facts about the whole profile",
          {
              text_column<[](const Source&, Row r) { return std::string_view(facts[r].name); }>(
                  "name",
                  "schema, format, version, device, graph, instrumentation, inferences, "
                  "temperature"),
              any_column<[](const Source& s, Row r, Output& out) { facts[r].read(s, out); }>(
                  "value", Type::text, "its value; NULL: unknown"),
          },
          [](const Source&) { return std::size(facts); }};
}

TableType files_table() {
  return {"files",
          "a file that the profile was read from",
          {any_column<[](const Source& s, Row r, Output& out) {
            repaired_text(s.profile.provenance.files[r], out);
          }>("name", Type::text, "as it was named")},
          [](const Source& s) { return s.profile.provenance.files.size(); }};
}

TableType clocks_table() {
  return {
      "clocks",
      "a time base",
      {
          row_column("its number"),
          name_column<&Profile::clocks, &Clock::name>("name", "as the file has it"),
          enum_column<[](const Source& s, Row r) { return s.profile.clocks[r].kind; }>(
              "kind", "wall, timer, unit_cycles"),
          any_column<[](const Source& s, Row r, Output& out) {
            const double rate = s.profile.clocks[r].rate.value;
            (rate > 0) ? out.real(rate) : out.nothing();
          }>("hertz", Type::real, "its rate; NULL: unknown"),
          any_column<[](const Source& s, Row r, Output& out) {
            const Clock& clock = s.profile.clocks[r];
            clock.offset_known ? out.integer(clock.offset) : out.nothing();
          }>("offset", Type::integer, "ticks of the base clock at which it read 0; NULL: unknown"),
          integer_column<[](const Source& s, Row r) {
            return std::int64_t(r == index_of(s.profile.base_clock));
          }>("is_base", "1: the clock of spans, counters and phases"),
      },
      rows_of<&Profile::clocks>};
}

TableType units_table() {
  constexpr auto table = &Profile::units;
  return {"units",
          "a resource that executes one thing at a time",
          {
              row_column("its number"),
              text_column<[](const Source& s, Row r) { return s.paths()[s.path_of(r)]; }>(
                  "path", "its name within its parents': \"card 0 > core 3 > HVX 1\""),
              name_column<table, &Unit::name>("name", "as the file has it"),
              enum_column<[](const Source& s, Row r) { return s.profile.units[r].engine; }>(
                  "engine",
                  "none, device, core, hvx, hmx, dma_issue, dma, host, process, thread, "
                  "compute, other"),
              integer_column<[](const Source& s, Row r) {
                return std::int64_t(s.profile.units[r].device);
              }>("device", "which device"),
              integer_column<[](const Source& s, Row r) {
                return std::int64_t(s.profile.units[r].core);
              }>("core", "which core of the device"),
              integer_column<[](const Source& s, Row r) {
                return std::int64_t(s.profile.units[r].lane);
              }>("lane", "which thread of the core"),
              id_column<[](const Source& s, Row r) { return index_of(s.profile.units[r].parent); }>(
                  "parent", "units.id"),
              known_column<table, &Unit::process_id>("process_id", "pid as the trace has it"),
              known_column<table, &Unit::thread_id>("thread_id", "tid as the trace has it"),
          },
          rows_of<table>};
}

TableType phases_table() {
  return {"phases",
          "a named interval of the run",
          {
              row_column("its number"),
              name_column<&Profile::phases, &Phase::name>("name", "\"Graph Execute\""),
              id_column<[](const Source& s, Row r) { return s.profile.phases[r].instance; }>(
                  "inference", "which inference, from 0"),
              id_column<[](const Source& s, Row r) { return index_of(s.profile.phases[r].unit); }>(
                  "unit", "units.id"),
              integer_column<[](const Source& s, Row r) { return s.profile.phases[r].start; }>(
                  "start", "ticks of the base clock"),
              integer_column<[](const Source& s, Row r) { return s.profile.phases[r].duration; }>(
                  "duration", "ticks of the base clock"),
              any_column<[](const Source& s, Row r, Output& out) {
                const double time = s.profile.phases[r].microseconds;
                (time >= 0) ? out.real(time) : out.nothing();
              }>("microseconds", Type::real, "by a clock of known rate; NULL: none was read"),
              any_column<[](const Source& s, Row r, Output& out) {
                const auto parent = parent_number(s.profile.phases[r]);
                parent ? out.integer(*parent) : out.nothing();
              }>("parent", Type::integer,
                 "phases.id of what it is part of; -1: of none; NULL: only their times tell"),
          },
          rows_of<&Profile::phases>};
}

template <analysis::Memory memory, analysis::Direction direction>
void read_traffic(const Source& source, Row row, Output& out) {
  const auto bytes = source.analysis().units().units[row].traffic.of(memory, direction);
  bytes ? out.real(*bytes) : out.nothing();
}

TableType unit_times_table() {
  using analysis::Direction, analysis::Memory;
  return {
      "unit_times",
      "how busy a unit was, as npuscope show has it: units that have work or waits",
      {
          id_column<[](const Source& s, Row r) {
            return index_of(s.analysis().units().units[r].unit);
          }>("unit", "units.id"),
          any_column<[](const Source& s, Row r, Output& out) {
            const std::uint32_t unit = index_of(s.analysis().units().units[r].unit);
            if (unit >= s.profile.units.size()) return out.nothing();
            out.text(s.paths()[s.path_of(unit)]);
          }>("path", Type::text, "units.path"),
          integer_column<[](const Source& s, Row r) { return s.analysis().units().units[r].busy; }>(
              "busy", "length of the union of its work (unit_busy): never more than the wall"),
          integer_column<[](const Source& s, Row r) {
            return s.analysis().units().units[r].waiting;
          }>("waiting", "length of the union of its waits where it does not work"),
          integer_column<[](const Source& s, Row r) { return s.analysis().units().units[r].work; }>(
              "work", "sum of its work, nested slices once"),
          integer_column<[](const Source& s, Row r) {
            return std::int64_t(s.analysis().units().units[r].spans);
          }>("spans", "of work"),
          any_column<[](const Source& s, Row r, Output& out) {
            const auto& path = s.analysis().units().units[r].dominant_path;
            path ? out.real(*path) : out.nothing();
          }>("dominant_path", Type::real, "its share of the critical path, in ticks"),
          any_column<read_traffic<Memory::ddr, Direction::read>>("ddr_read_bytes", Type::real,
                                                                 "NULL: not known"),
          any_column<read_traffic<Memory::ddr, Direction::write>>("ddr_write_bytes", Type::real,
                                                                  "NULL: not known"),
          any_column<read_traffic<Memory::vtcm, Direction::read>>("vtcm_read_bytes", Type::real,
                                                                  "NULL: not known"),
          any_column<read_traffic<Memory::vtcm, Direction::write>>("vtcm_write_bytes", Type::real,
                                                                   "NULL: not known"),
      },
      [](const Source& s) { return s.analysis().units().units.size(); }};
}

TableType checks_table() {
  return {"checks",
          "an identity that the files must obey, tried",
          {
              text_column<[](const Source& s, Row r) {
                return std::string_view(s.profile.checks[r].name);
              }>("name", "the identity"),
              enum_column<[](const Source& s, Row r) { return s.profile.checks[r].outcome; }>(
                  "outcome", "passed, failed, impossible"),
              any_column<[](const Source& s, Row r, Output& out) {
                known_text(s.profile.checks[r].detail, out);
              }>("detail", Type::text, "its numbers, or what is missing"),
          },
          rows_of<&Profile::checks>};
}

TableType notes_table() {
  return {"notes",
          "what the reader could not take, or repaired",
          {
              enum_column<[](const Source& s, Row r) { return s.profile.notes[r].severity; }>(
                  "severity", "info, warning, error"),
              any_column<[](const Source& s, Row r, Output& out) {
                const std::string& file = s.profile.notes[r].file;
                file.empty() ? out.nothing() : repaired_text(file, out);
              }>("file", Type::text, "as it was named"),
              integer_column<[](const Source& s, Row r) {
                return std::int64_t(s.profile.notes[r].offset);
              }>("offset", "byte in the file where it begins"),
              integer_column<[](const Source& s, Row r) {
                return std::int64_t(s.profile.notes[r].count);
              }>("count", "records concerned"),
              any_column<[](const Source& s, Row r, Output& out) {
                repaired_text(s.profile.notes[r].message, out);
              }>("message", Type::text, "a sentence"),
          },
          rows_of<&Profile::notes>};
}

}  // namespace

std::vector<TableType> run_tables() {
  return {profile_table(), files_table(),      clocks_table(), units_table(),
          phases_table(),  unit_times_table(), checks_table(), notes_table()};
}

}  // namespace npuscope::query
