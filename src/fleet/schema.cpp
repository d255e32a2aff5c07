// The columns of all tables: see schema.hpp.
#include "fleet/schema.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>

namespace npuscope::fleet {
namespace {

using schema::FieldUnit, schema::of;

template <class Get>
struct Declared {
  const char* name;
  FieldUnit unit;
  const char* kind;
  From from;
  const char* meaning;
};
template <class Get>
Declared<Get> column(const char* name, FieldUnit unit, const char* kind, From from,
                     const char* meaning, Get) {
  return {name, unit, kind, from, meaning};
}
template <class Get>
Declared<Get> column(const char* name, const char* kind, From from, const char* meaning, Get) {
  return {name, FieldUnit::none, kind, from, meaning};
}

template <auto rows, class Get>
Column made_column(const Declared<Get>& of) {
  using Value = decltype(Get{}((std::declval<const Batch&>().*rows)[0]));
  const auto head = schema::head_of<std::remove_cvref_t<Value>>(of.name, of.unit, of.meaning);
  return {head, of.kind, of.from, false, [](const Batch& batch, std::size_t row) {
            return schema::cell_of(Get{}((batch.*rows)[row]));
          }};
}

template <auto rows>
void move_rows(const Table& table, Batch& from, const std::unordered_set<Id>& without, Batch& to) {
  auto& moved = from.*rows;
  for (std::size_t row = 0; row < moved.size(); ++row) {
    const bool is_left_out =
        table.sort != Rows::dimension && without.contains(table.run_of(from, row));
    if (!is_left_out) (to.*rows).push_back(std::move(moved[row]));
  }
  moved.clear();
}

template <auto rows, class... Gets>
Table table(const char* name, const char* meaning, std::size_t keys, Rows sort,
            Declared<Gets>... columns) {
  Table made{name, meaning, sort, {made_column<rows>(columns)...}};
  for (std::size_t i = 0; i < keys; ++i) made.columns[i].is_key = true;
  made.count = [](const Batch& batch) { return (batch.*rows).size(); };
  made.move = move_rows<rows>;
  return made;
}

// Dimensions --------------------------------------------------------------------------------------

Table runs() {
  using R = Run;
  return table<&Batch::runs>(
      "runs", "one profile: what ran, where and when", 1, Rows::unique,
      column("id", "key", From::computed, "63 bits of `content`", of<&R::id>),
      column("content", "label", From::computed,
             "hash of the content of its files, decompressed, whatever they are called",
             of<&R::content>),
      column(
          "time", FieldUnit::seconds, "label", From::user,
          "when it was recorded, since 1970-01-01 UTC: the tag `time`, else the time of its file",
          of<&R::time>),
      column("time_from", "label", From::computed, "which of the two: tag, file",
             of<&R::time_from>),
      column("device", "label", From::user, "which device: the tag `device`", of<&R::device>),
      column("soc", "label", From::user,
             "what kind of device: the tag `soc`, else what the files name", of<&R::soc>),
      column("sdk", "label", From::user,
             "version of the tools: the tag `sdk`, else what the files name", of<&R::sdk>),
      column("model", "label", From::user,
             "what was run: the tag `model`, else the graph that the files name", of<&R::model>),
      column("graph", "label", From::computed,
             "hash of the compiled graph: ops, shapes, dependencies", of<&R::graph>),
      column("format", "label", From::file, "format of its files", of<&R::format>),
      column("temperature", "label", From::file,
             "cold, warm, cold_then_warm or unknown, as the files say", of<&R::temperature>),
      column("instrumentation", "label", From::file, "how it was recorded",
             of<&R::instrumentation>),
      column("origin", "label", From::computed,
             "where its numbers come from: measured, simulated, estimated", of<&R::origin>),
      column("clock", "label", From::file, "clock of its ticks", of<&R::clock>),
      column("clock_kind", "label", From::file, "what it counts: wall, timer, unit_cycles",
             of<&R::clock_kind>),
      column("hertz", FieldUnit::hertz, "rate", From::file, "rate of that clock", of<&R::hertz>),
      column("inferences", "count", From::file, "inferences that it has numbers of",
             of<&R::inferences>),
      column("damaged", "label", From::computed, "1: records are missing, its notes say which",
             of<&R::damaged>),
      column("files", "label", From::file, "one a line, as they were named", of<&R::files>));
}

Table tags() {
  using R = Tag;
  return table<&Batch::tags>(
      "tags", "what the user says of a run: --tag key=value", 2, Rows::unique,
      column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("key", "label", From::user, "its name", of<&R::key>),
      column("value", "label", From::user, "its value as it was typed", of<&R::value>),
      column("number", "label", From::user,
             "the value as a number, where it is one without an exponent", of<&R::number>));
}

Table ops() {
  using R = OpKey;
  return table<&Batch::ops>(
      "ops", "an operation of a model, the same in all runs: node and kernel, as diff has it", 1,
      Rows::dimension, column("id", "key", From::computed, "hash of name and kind", of<&R::id>),
      column("name", "label", From::file,
             "node, else the op's own name, without the ordinals that compilers append",
             of<&R::name>),
      column("kind", "label", From::file, "kernel", of<&R::kind>));
}

Table units() {
  using R = UnitKey;
  return table<&Batch::units>(
      "units", "a resource that executes one thing at a time, the same in all runs", 1,
      Rows::dimension, column("id", "key", From::computed, "hash of path and engine", of<&R::id>),
      column("path", "label", From::file, "its name within its parents'", of<&R::path>),
      column("engine", "label", From::file, "what it is", of<&R::engine>));
}

// Facts -------------------------------------------------------------------------------------------

Table inferences() {
  using R = Inference;
  return table<&Batch::inferences>(
      "inferences", "one inference of a run", 2, Rows::unique,
      column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("inference", "key", From::file, "its number; -1: all of the run together",
             of<&R::inference>),
      column("cold", "label", From::computed, "1: the first of its run, or called cold",
             of<&R::cold>),
      column("wall", FieldUnit::ticks, "wall", From::computed, "first start to last end",
             of<&R::wall>),
      column("active", FieldUnit::ticks, "active", From::computed, "time in which something works",
             of<&R::active>),
      column("waiting", FieldUnit::ticks, "active", From::computed,
             "time in which something waits and nothing works", of<&R::waiting>),
      column("idle", FieldUnit::ticks, "active", From::computed,
             "time in which neither is recorded", of<&R::idle>),
      column("work", FieldUnit::ticks, "work", From::computed, "sum over all units", of<&R::work>),
      column("wall_seconds", FieldUnit::seconds, "wall", From::computed,
             "wall by the rate of the clock; NULL where that is not known", of<&R::wall_seconds>),
      column("latency_seconds", FieldUnit::seconds, "wall", From::file, "a call as the host saw it",
             of<&R::latency_seconds>),
      column("device_latency_seconds", FieldUnit::seconds, "wall", From::file,
             "the same on the device", of<&R::device_latency_seconds>),
      column("clock_hertz", FieldUnit::hertz, "rate", From::file,
             "clock of the cores while it ran: cycles by time", of<&R::clock_hertz>),
      column("ddr_read_bytes", FieldUnit::bytes, "count", From::file, "read from DDR",
             of<&R::ddr_read_bytes>),
      column("ddr_write_bytes", FieldUnit::bytes, "count", From::file, "written to DDR",
             of<&R::ddr_write_bytes>),
      column("vtcm_read_bytes", FieldUnit::bytes, "count", From::file, "read from VTCM",
             of<&R::vtcm_read_bytes>),
      column("vtcm_write_bytes", FieldUnit::bytes, "count", From::file, "written to VTCM",
             of<&R::vtcm_write_bytes>));
}

Table op_runs() {
  using R = OpRun;
  return table<&Batch::op_runs>(
      "op_runs", "what one op took in one inference of a run", 3, Rows::unique,
      column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("inference", "key", From::file, "as in inferences", of<&R::inference>),
      column("op", "key", From::computed, "ops.id", of<&R::op>),
      column("cold", "label", From::computed, "as in inferences", of<&R::cold>),
      column("ops", "count", From::file, "ops of the compiled graph that are this one",
             of<&R::ops>),
      column("work", FieldUnit::ticks, "work", From::computed,
             "own time of its spans on all units, what is nested inside left out", of<&R::work>),
      column("active", FieldUnit::ticks, "active", From::computed,
             "time in which at least one of them ran", of<&R::active>),
      column("waiting", FieldUnit::ticks, "work", From::computed, "its waits, summed over units",
             of<&R::waiting>),
      column("dominant_path", FieldUnit::ticks, "dominant_path", From::file,
             "share of the critical path", of<&R::dominant_path>),
      column("ddr_read_bytes", FieldUnit::bytes, "count", From::file, "read from DDR",
             of<&R::ddr_read_bytes>),
      column("ddr_write_bytes", FieldUnit::bytes, "count", From::file, "written to DDR",
             of<&R::ddr_write_bytes>));
}

Table unit_runs() {
  using R = UnitRun;
  return table<&Batch::unit_runs>(
      "unit_runs", "what one unit did in one inference of a run", 3, Rows::unique,
      column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("inference", "key", From::file, "as in inferences", of<&R::inference>),
      column("unit", "key", From::computed, "units.id", of<&R::unit>),
      column("cold", "label", From::computed, "as in inferences", of<&R::cold>),
      column("busy", FieldUnit::ticks, "unit_busy", From::computed, "union of its work",
             of<&R::busy>),
      column("waiting", FieldUnit::ticks, "unit_busy", From::computed,
             "union of its waits where it does not work", of<&R::waiting>),
      column("work", FieldUnit::ticks, "work", From::computed, "sum of its spans' durations",
             of<&R::work>),
      column("spans", "count", From::computed, "of work", of<&R::spans>));
}

Table findings() {
  using R = FindingRow;
  return table<&Batch::findings>(
      "findings", "what a rule of diagnose said of a run", 2, Rows::unique,
      column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("rule", "key", From::computed, "name of the rule", of<&R::rule>),
      column("outcome", "label", From::computed, "found, quiet (tried, does not apply) or untried",
             of<&R::outcome>),
      column("weight", "label", From::computed, "of a finding: high, medium, low", of<&R::weight>),
      column("title", "label", From::computed, "of a finding, its sentence", of<&R::title>),
      column("missing", "label", From::computed, "what an untried rule would need",
             of<&R::missing>),
      column("gain_share", "share", From::computed, "of a finding, at most", of<&R::gain_share>));
}

Table checks() {
  using R = CheckRow;
  return table<&Batch::checks>(
      "checks", "an identity that the files must obey, tried", 1, Rows::repeating,
      column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("name", "label", From::computed, "which", of<&R::name>),
      column("outcome", "label", From::computed, "passed, failed or impossible", of<&R::outcome>),
      column("detail", "label", From::computed, "its numbers", of<&R::detail>));
}

Table notes() {
  using R = NoteRow;
  return table<&Batch::notes>(
      "notes", "what a reader could not use or repaired, and what this store does not hold", 1,
      Rows::repeating, column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("severity", "label", From::computed, "info, warning, or error: records are missing",
             of<&R::severity>),
      column("file", "label", From::file, "in which file", of<&R::file>),
      column("offset", FieldUnit::bytes, "label", From::file, "where in it", of<&R::offset>),
      column("message", "label", From::computed, "what", of<&R::message>),
      column("count", "count", From::computed, "records concerned", of<&R::count>));
}

Table counters() {
  using R = CounterRow;
  return table<&Batch::counters>(
      "counters", "a sampled series of a run, as its samples' min, mean and max", 1,
      Rows::repeating, column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("series", "label", From::file, "its name", of<&R::series>),
      column("unit", "label", From::file, "units.path of its unit", of<&R::unit>),
      column("quantity", "label", From::file, "what it counts", of<&R::quantity>),
      column("samples", "count", From::file, "how many", of<&R::samples>),
      column("min", "count", From::file, "the smallest", of<&R::min>),
      column("mean", "count", From::computed, "of the samples, not over time", of<&R::mean>),
      column("max", "count", From::file, "the largest", of<&R::max>));
}

Table spans() {
  using R = SpanRow;
  return table<&Batch::spans>(
      "spans", "one execution of an op on one unit; only of runs added with --spans", 1,
      Rows::repeating, column("run", "key", From::computed, "runs.id", of<&R::run>),
      column("inference", "key", From::file, "as in inferences", of<&R::inference>),
      column("unit", "key", From::computed, "units.id", of<&R::unit>),
      column("op", "key", From::computed, "ops.id", of<&R::op>),
      column("kind", "label", From::file, "what it is", of<&R::kind>),
      column("start", FieldUnit::ticks, "span", From::file, "when it begins", of<&R::start>),
      column("duration", FieldUnit::ticks, "span", From::file, "how long it takes",
             of<&R::duration>));
}

}  // namespace

const char* name_of(From from) {
  constexpr const char* names[] = {"file", "user", "computed"};
  return names[std::size_t(from)];
}

const std::vector<Table>& schema() {
  static const std::vector<Table> tables{runs(),       tags(),    ops(),       units(),
                                         inferences(), op_runs(), unit_runs(), findings(),
                                         checks(),     notes(),   counters(),  spans()};
  return tables;
}

const Table& schema_of(std::string_view table) {
  return *std::ranges::find(schema(), table, &Table::name);
}

namespace {

// " WHERE …": rows of these runs.
std::string of_runs(const Table& table, std::string_view runs) {
  if (runs.empty()) return "";
  const std::string ids = fmt::format("(SELECT run FROM {})", runs);
  if (table.name == "runs") return " WHERE id IN " + ids;
  if (table.sort != Rows::dimension) return " WHERE run IN " + ids;
  const char* const column = table.name == "ops" ? "op" : "unit";
  return fmt::format(
      " WHERE id IN (SELECT {0} FROM {0}_runs WHERE run IN {1}) OR id IN (SELECT {0} FROM spans "
      "WHERE {0} IS NOT NULL AND run IN {1})",
      column, ids);
}

}  // namespace

std::string select_sql(const Table& table, std::string_view runs) {
  std::string columns, keys;
  for (const Column& column : table.columns) {
    columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", column.name);
    if (column.is_key) keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", column.name);
  }
  return fmt::format("SELECT {} FROM \"{}\"{} ORDER BY {}", columns, table.name,
                     of_runs(table, runs), keys);
}

const query::Catalogue& catalogue() {
  static const std::vector<query::TableInfo> tables = [] {
    std::vector<query::TableInfo> made;
    for (const Table& table : schema()) {
      query::TableInfo info{table.name, table.meaning, "", {}};
      for (const Column& column : table.columns) {
        info.columns.push_back({column.name, sql_name(column.type), column.meaning,
                                name_of(column.unit), column.is_nullable});
      }
      made.push_back(std::move(info));
    }
    return made;
  }();
  static const query::Catalogue all{tables, "npuscope fleet sql --schema",
                                    "npuscope fleet export STORE -o copy.db"};
  return all;
}

}  // namespace npuscope::fleet
