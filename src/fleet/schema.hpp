// The schema of a fleet: tables of runs, what they are of and what was measured, column by column.
//
//   op_runs   run    INTEGER          key    runs.id
//             work   REAL      ticks  work   own time of its spans, …
//
// A column stands here once. The tables of the SQLite store, `npuscope fleet sql`, the CSV files of
// `fleet export` and docs/fleet.md are made of it; a store on another engine is made of it as well.
// To add a column, add it here and to its struct in rows.hpp, and raise the version.
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "fleet/rows.hpp"
#include "query/errors.hpp"

namespace npuscope::fleet {

// Counts changes of the tables: a store of another version is refused.
inline constexpr int schema_version = 1;

// Who says what a column holds.
enum class From : std::uint8_t {
  file,      // the files of the run state it
  user,      // a tag, or the file's time where there is no tag
  computed,  // worked out from the files
};
const char* name_of(From from);

template <class Row, class T>
struct Column {
  const char* name;
  const char* unit;  // empty: none
  const char* kind;  // key, label, or the kind of number (docs/glossary.md)
  From from;
  const char* meaning;
  T Row::*member;
};

// Rows are sorted by the first `keys` columns, which tell a row of a table of unique ones apart.
// A dimension's row may be added again: it is the same.
enum class Rows : std::uint8_t { unique, dimension, repeating };

template <class Row, class... T>
struct Table {
  const char* name;
  const char* meaning;
  std::vector<Row> Batch::*rows;
  std::size_t keys;
  Rows sort;
  std::tuple<Column<Row, T>...> columns;
};
template <class Row, class... T>
constexpr Table<Row, T...> table(const char* name, const char* meaning,
                                 std::vector<Row> Batch::*rows, std::size_t keys, Rows sort,
                                 Column<Row, T>... columns) {
  return {name, meaning, rows, keys, sort, {columns...}};
}
template <class Row, class T>
constexpr Column<Row, T> column(const char* name, const char* unit, const char* kind, From from,
                                const char* meaning, T Row::*member) {
  return {name, unit, kind, from, meaning, member};
}

// Dimensions --------------------------------------------------------------------------------------

constexpr auto runs() {
  using R = Run;
  return table(
      "runs", "one profile: what ran, where and when", &Batch::runs, 1, Rows::unique,
      column("id", "", "key", From::computed, "63 bits of `content`", &R::id),
      column("content", "", "label", From::computed,
             "hash of the content of its files, decompressed, whatever they are called",
             &R::content),
      column(
          "time", "s", "label", From::user,
          "when it was recorded, since 1970-01-01 UTC: the tag `time`, else the time of its file",
          &R::time),
      column("time_from", "", "label", From::computed, "which of the two: tag, file",
             &R::time_from),
      column("device", "", "label", From::user, "which device: the tag `device`", &R::device),
      column("soc", "", "label", From::user,
             "what kind of device: the tag `soc`, else what the files name", &R::soc),
      column("sdk", "", "label", From::user,
             "version of the tools: the tag `sdk`, else what the files name", &R::sdk),
      column("model", "", "label", From::user,
             "what was run: the tag `model`, else the graph that the files name", &R::model),
      column("graph", "", "label", From::computed,
             "hash of the compiled graph: ops, shapes, dependencies", &R::graph),
      column("format", "", "label", From::file, "format of its files", &R::format),
      column("temperature", "", "label", From::file,
             "cold, warm, cold_then_warm or unknown, as the files say", &R::temperature),
      column("instrumentation", "", "label", From::file, "how it was recorded",
             &R::instrumentation),
      column("origin", "", "label", From::computed,
             "where its numbers come from: measured, simulated, estimated", &R::origin),
      column("clock", "", "label", From::file, "clock of its ticks", &R::clock),
      column("clock_kind", "", "label", From::file, "what it counts: wall, timer, unit_cycles",
             &R::clock_kind),
      column("hertz", "Hz", "rate", From::file, "rate of that clock", &R::hertz),
      column("inferences", "", "count", From::file, "inferences that it has numbers of",
             &R::inferences),
      column("damaged", "", "label", From::computed, "1: records are missing, its notes say which",
             &R::damaged),
      column("files", "", "label", From::file, "one a line, as they were named", &R::files));
}

constexpr auto tags() {
  using R = Tag;
  return table("tags", "what the user says of a run: --tag key=value", &Batch::tags, 2,
               Rows::unique, column("run", "", "key", From::computed, "runs.id", &R::run),
               column("key", "", "label", From::user, "its name", &R::key),
               column("value", "", "label", From::user, "its value as it was typed", &R::value),
               column("number", "", "label", From::user,
                      "the value as a number, where it is one without an exponent", &R::number));
}

constexpr auto ops() {
  using R = OpKey;
  return table(
      "ops", "an operation of a model, the same in all runs: node and kernel, as diff has it",
      &Batch::ops, 1, Rows::dimension,
      column("id", "", "key", From::computed, "hash of name and kind", &R::id),
      column("name", "", "label", From::file,
             "node, else the op's own name, without the ordinals that compilers append", &R::name),
      column("kind", "", "label", From::file, "kernel", &R::kind));
}

constexpr auto units() {
  using R = UnitKey;
  return table("units", "a resource that executes one thing at a time, the same in all runs",
               &Batch::units, 1, Rows::dimension,
               column("id", "", "key", From::computed, "hash of path and engine", &R::id),
               column("path", "", "label", From::file, "its name within its parents'", &R::path),
               column("engine", "", "label", From::file, "what it is", &R::engine));
}

// Facts -------------------------------------------------------------------------------------------

constexpr auto inferences() {
  using R = Inference;
  return table(
      "inferences", "one inference of a run", &Batch::inferences, 2, Rows::unique,
      column("run", "", "key", From::computed, "runs.id", &R::run),
      column("inference", "", "key", From::file, "its number; -1: all of the run together",
             &R::inference),
      column("cold", "", "label", From::computed, "1: the first of its run, or called cold",
             &R::cold),
      column("wall", "ticks", "wall", From::computed, "first start to last end", &R::wall),
      column("active", "ticks", "active", From::computed, "time in which something works",
             &R::active),
      column("waiting", "ticks", "active", From::computed,
             "time in which something waits and nothing works", &R::waiting),
      column("idle", "ticks", "active", From::computed, "time in which neither is recorded",
             &R::idle),
      column("work", "ticks", "work", From::computed, "sum over all units", &R::work),
      column("wall_seconds", "s", "wall", From::computed,
             "wall by the rate of the clock; NULL where that is not known", &R::wall_seconds),
      column("latency_seconds", "s", "wall", From::file, "a call as the host saw it",
             &R::latency_seconds),
      column("device_latency_seconds", "s", "wall", From::file, "the same on the device",
             &R::device_latency_seconds),
      column("clock_hertz", "Hz", "rate", From::file,
             "clock of the cores while it ran: cycles by time", &R::clock_hertz),
      column("ddr_read_bytes", "bytes", "count", From::file, "read from DDR", &R::ddr_read_bytes),
      column("ddr_write_bytes", "bytes", "count", From::file, "written to DDR",
             &R::ddr_write_bytes),
      column("vtcm_read_bytes", "bytes", "count", From::file, "read from VTCM",
             &R::vtcm_read_bytes),
      column("vtcm_write_bytes", "bytes", "count", From::file, "written to VTCM",
             &R::vtcm_write_bytes));
}

constexpr auto op_runs() {
  using R = OpRun;
  return table(
      "op_runs", "what one op took in one inference of a run", &Batch::op_runs, 3, Rows::unique,
      column("run", "", "key", From::computed, "runs.id", &R::run),
      column("inference", "", "key", From::file, "as in inferences", &R::inference),
      column("op", "", "key", From::computed, "ops.id", &R::op),
      column("cold", "", "label", From::computed, "as in inferences", &R::cold),
      column("ops", "", "count", From::file, "ops of the compiled graph that are this one",
             &R::ops),
      column("work", "ticks", "work", From::computed,
             "own time of its spans on all units, what is nested inside left out", &R::work),
      column("active", "ticks", "active", From::computed, "time in which at least one of them ran",
             &R::active),
      column("waiting", "ticks", "work", From::computed, "its waits, summed over units",
             &R::waiting),
      column("dominant_path", "ticks", "dominant_path", From::file, "share of the critical path",
             &R::dominant_path),
      column("ddr_read_bytes", "bytes", "count", From::file, "read from DDR", &R::ddr_read_bytes),
      column("ddr_write_bytes", "bytes", "count", From::file, "written to DDR",
             &R::ddr_write_bytes));
}

constexpr auto unit_runs() {
  using R = UnitRun;
  return table(
      "unit_runs", "what one unit did in one inference of a run", &Batch::unit_runs, 3,
      Rows::unique, column("run", "", "key", From::computed, "runs.id", &R::run),
      column("inference", "", "key", From::file, "as in inferences", &R::inference),
      column("unit", "", "key", From::computed, "units.id", &R::unit),
      column("cold", "", "label", From::computed, "as in inferences", &R::cold),
      column("busy", "ticks", "unit_busy", From::computed, "union of its work", &R::busy),
      column("waiting", "ticks", "unit_busy", From::computed,
             "union of its waits where it does not work", &R::waiting),
      column("work", "ticks", "work", From::computed, "sum of its spans' durations", &R::work),
      column("spans", "", "count", From::computed, "of work", &R::spans));
}

constexpr auto findings() {
  using R = FindingRow;
  return table(
      "findings", "what a rule of diagnose said of a run", &Batch::findings, 2, Rows::unique,
      column("run", "", "key", From::computed, "runs.id", &R::run),
      column("rule", "", "key", From::computed, "name of the rule", &R::rule),
      column("outcome", "", "label", From::computed,
             "found, quiet (tried, does not apply) or untried", &R::outcome),
      column("weight", "", "label", From::computed, "of a finding: high, medium, low", &R::weight),
      column("title", "", "label", From::computed, "of a finding, its sentence", &R::title),
      column("missing", "", "label", From::computed, "what an untried rule would need",
             &R::missing),
      column("gain_share", "", "share", From::computed, "of a finding, at most", &R::gain_share));
}

constexpr auto checks() {
  using R = CheckRow;
  return table(
      "checks", "an identity that the files must obey, tried", &Batch::checks, 1, Rows::repeating,
      column("run", "", "key", From::computed, "runs.id", &R::run),
      column("name", "", "label", From::computed, "which", &R::name),
      column("outcome", "", "label", From::computed, "passed, failed or impossible", &R::outcome),
      column("detail", "", "label", From::computed, "its numbers", &R::detail));
}

constexpr auto notes() {
  using R = NoteRow;
  return table("notes",
               "what a reader could not use or repaired, and what this store does not hold",
               &Batch::notes, 1, Rows::repeating,
               column("run", "", "key", From::computed, "runs.id", &R::run),
               column("severity", "", "label", From::computed,
                      "info, warning, or error: records are missing", &R::severity),
               column("file", "", "label", From::file, "in which file", &R::file),
               column("offset", "bytes", "label", From::file, "where in it", &R::offset),
               column("message", "", "label", From::computed, "what", &R::message),
               column("count", "", "count", From::computed, "records concerned", &R::count));
}

constexpr auto counters() {
  using R = CounterRow;
  return table(
      "counters", "a sampled series of a run, as its samples' min, mean and max", &Batch::counters,
      1, Rows::repeating, column("run", "", "key", From::computed, "runs.id", &R::run),
      column("series", "", "label", From::file, "its name", &R::series),
      column("unit", "", "label", From::file, "units.path of its unit", &R::unit),
      column("quantity", "", "label", From::file, "what it counts", &R::quantity),
      column("samples", "", "count", From::file, "how many", &R::samples),
      column("min", "", "count", From::file, "the smallest", &R::min),
      column("mean", "", "count", From::computed, "of the samples, not over time", &R::mean),
      column("max", "", "count", From::file, "the largest", &R::max));
}

constexpr auto spans() {
  using R = SpanRow;
  return table("spans", "one execution of an op on one unit; only of runs added with --spans",
               &Batch::spans, 1, Rows::repeating,
               column("run", "", "key", From::computed, "runs.id", &R::run),
               column("inference", "", "key", From::file, "as in inferences", &R::inference),
               column("unit", "", "key", From::computed, "units.id", &R::unit),
               column("op", "", "key", From::computed, "ops.id", &R::op),
               column("kind", "", "label", From::file, "what it is", &R::kind),
               column("start", "ticks", "span", From::file, "when it begins", &R::start),
               column("duration", "ticks", "span", From::file, "how long it takes", &R::duration));
}

// f(table) for each; dimensions first.
template <class Function>
constexpr void each_table(Function&& f) {
  f(runs()), f(tags()), f(ops()), f(units());
  f(inferences()), f(op_runs()), f(unit_runs()), f(findings()), f(checks()), f(notes());
  f(counters()), f(spans());
}

// f(column) for each of a table, in its order.
template <class AnyTable, class Function>
constexpr void each_column(const AnyTable& of, Function&& f) {
  std::apply([&](const auto&... each) { (f(each), ...); }, of.columns);
}

// What SQL calls the type of a column, and whether it may be NULL.
template <class T>
struct TypeOf {
  static constexpr const char* sql = std::is_floating_point_v<T> ? "REAL"
                                     : std::is_integral_v<T>     ? "INTEGER"
                                                                 : "TEXT";
  static constexpr bool is_nullable = false;
};
template <class T>
struct TypeOf<std::optional<T>> {
  static constexpr const char* sql = TypeOf<T>::sql;
  static constexpr bool is_nullable = true;
};

// The same as text, for those who list it.
struct ColumnText {
  std::string name, type, unit, kind, from, meaning;
  bool is_nullable = false, is_key = false;
};
struct TableText {
  std::string name, meaning;
  Rows sort = Rows::unique;
  std::vector<ColumnText> columns;
};
const std::vector<TableText>& schema();
const TableText& schema_of(std::string_view table);

// SELECT of all columns in their order, rows in that of the keys; of some runs only, with the ops
// and units that they have, where `runs` is a table of SQL with their ids as `run`.
std::string select_sql(const TableText& table, std::string_view runs = {});

// What SQL on a store can name.
const query::Catalogue& catalogue();

}  // namespace npuscope::fleet
