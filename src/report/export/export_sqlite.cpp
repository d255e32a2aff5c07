#include <algorithm>
#include <map>

#include "npuscope/analysis/units.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/text.hpp"
#include "npuscope/report/export.hpp"
#include "profile/numbered_phases.hpp"
#include "report/document/names.hpp"
#include "report/export/sqlite_output.hpp"

namespace npuscope::report {
namespace {

constexpr const char* schema = R"sql(
CREATE TABLE profile(name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE files(name TEXT);
CREATE TABLE clocks(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, hertz REAL, offset INTEGER,
  is_base INTEGER);
CREATE TABLE units(id INTEGER PRIMARY KEY, path TEXT, name TEXT, engine TEXT, device INTEGER,
  core INTEGER, lane INTEGER, parent INTEGER, process_id TEXT, thread_id TEXT);
CREATE TABLE ops(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, node TEXT, node_kind TEXT,
  engine TEXT, memory TEXT, types TEXT, shape TEXT, attributes TEXT, operands TEXT,
  output_bytes INTEGER, core INTEGER, thread_group INTEGER, position INTEGER, vendor_id INTEGER);
CREATE TABLE spans(id INTEGER PRIMARY KEY, unit INTEGER, op INTEGER, kind TEXT, start INTEGER,
  duration INTEGER, processor_cycles INTEGER, inference INTEGER);
CREATE TABLE argument_keys(id INTEGER PRIMARY KEY, name TEXT, type TEXT);
CREATE TABLE arguments(span INTEGER, key INTEGER, value);
CREATE TABLE span_columns(id INTEGER PRIMARY KEY, name TEXT, kind TEXT, origin TEXT, clock INTEGER);
CREATE TABLE span_numbers(span INTEGER, column_id INTEGER, value INTEGER);
CREATE TABLE measures(subject TEXT, subject_id INTEGER, inference INTEGER, name TEXT, kind TEXT,
  origin TEXT, clock INTEGER, value REAL);
CREATE TABLE edges(from_op INTEGER, to_op INTEGER, kind TEXT);
CREATE TABLE flows(from_span INTEGER, to_span INTEGER, kind TEXT, name TEXT, category TEXT);
CREATE TABLE counter_series(id INTEGER PRIMARY KEY, unit INTEGER, name TEXT, part TEXT,
  quantity TEXT);
CREATE TABLE counter_samples(series INTEGER, time INTEGER, value REAL);
CREATE TABLE phases(id INTEGER PRIMARY KEY, name TEXT, inference INTEGER, unit INTEGER,
  start INTEGER, duration INTEGER, microseconds REAL, parent INTEGER);
CREATE TABLE tensors(id INTEGER PRIMARY KEY, name TEXT, type TEXT, shape TEXT, memory TEXT,
  bytes INTEGER, is_constant INTEGER, producer_op INTEGER, vendor_id INTEGER);
CREATE TABLE tensor_uses(tensor INTEGER, consumer_op INTEGER);
CREATE TABLE checks(name TEXT, outcome TEXT, detail TEXT);
CREATE TABLE notes(severity TEXT, file TEXT, offset INTEGER, count INTEGER, message TEXT);
)sql";

constexpr const char* indexes_and_views = R"sql(
CREATE INDEX spans_unit_start ON spans(unit, start);
CREATE INDEX spans_op ON spans(op);
CREATE INDEX spans_start ON spans(start);
CREATE INDEX ops_name ON ops(name);
CREATE INDEX arguments_span ON arguments(span);
CREATE INDEX span_numbers_span ON span_numbers(span);
CREATE INDEX measures_subject ON measures(subject, subject_id);
CREATE INDEX flows_from ON flows(from_span);
CREATE INDEX flows_to ON flows(to_span);
CREATE INDEX edges_from ON edges(from_op);
CREATE INDEX edges_to ON edges(to_op);
CREATE INDEX counter_samples_series ON counter_samples(series, time);
CREATE VIEW named_spans AS
  SELECT spans.id, units.path AS unit, units.engine AS unit_engine, ops.name AS op,
    ops.kind AS op_kind, ops.node, spans.kind, spans.start, spans.duration,
    spans.start + spans.duration AS end, spans.processor_cycles, spans.inference
  FROM spans LEFT JOIN units ON units.id = spans.unit LEFT JOIN ops ON ops.id = spans.op;
CREATE VIEW span_arguments AS
  SELECT arguments.span, argument_keys.name, argument_keys.type, arguments.value
  FROM arguments JOIN argument_keys ON argument_keys.id = arguments.key;
CREATE VIEW span_measures AS
  SELECT span_numbers.span, span_columns.name, span_columns.kind, span_columns.origin,
    span_columns.clock, span_numbers.value
  FROM span_numbers JOIN span_columns ON span_columns.id = span_numbers.column_id;
)sql";

// Rows that do not exist are NULL.
std::optional<std::uint32_t> row_id(std::uint32_t id) {
  return id == every_instance ? std::nullopt : std::optional(id);
}

// A text that is not known is NULL.
std::optional<std::string_view> known(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

class SqliteTables {
 public:
  SqliteTables(const Profile& profile, SqliteOutput& database)
      : profile_(profile), database_(database) {}

  void fill();

 private:
  std::string_view text(StringId id) const { return profile_.text(id); }
  void about();
  void clocks();
  void units();
  void ops();
  void spans();
  void arguments();
  void span_numbers();
  void measures();
  void relations();
  void counters();
  void phases();
  void tensors();
  void checks_and_notes();

  const Profile& profile_;
  SqliteOutput& database_;
};

void SqliteTables::about() {
  const Provenance& from = profile_.provenance;
  SqliteInsert insert(database_, "INSERT INTO profile VALUES(?,?)");
  insert.row("schema", "1");
  insert.row("format", known(from.format));
  insert.row("version", known(from.version));
  insert.row("device", known(from.device));
  insert.row("graph", known(from.graph));
  insert.row("instrumentation", known(from.instrumentation));
  const std::string inferences = fmt::format("{}", from.inferences);
  insert.row("inferences", from.inferences > 0 ? std::optional<std::string_view>(inferences)
                                               : std::nullopt);  // unknown
  insert.row("temperature", stable_name(from.temperature));
  SqliteInsert file(database_, "INSERT INTO files VALUES(?)");
  for (const std::string& name : from.files) file.row(std::string_view(valid_utf8(name)));
}

void SqliteTables::clocks() {
  SqliteInsert insert(database_, "INSERT INTO clocks VALUES(?,?,?,?,?,?)");
  for (std::size_t i = 0; i < profile_.clocks.size(); ++i) {
    const Clock& clock = profile_.clocks[i];
    insert.row(i, text(clock.name), stable_name(clock.kind),
               clock.rate.value > 0 ? std::optional(clock.rate.value) : std::nullopt,
               clock.offset_known ? std::optional(clock.offset) : std::nullopt,
               i == index_of(profile_.base_clock));
  }
}

void SqliteTables::units() {
  SqliteInsert insert(database_, "INSERT INTO units VALUES(?,?,?,?,?,?,?,?,?,?)");
  for (std::uint32_t i = 0; i < profile_.units.size(); ++i) {
    const Unit& unit = profile_.units[i];
    const std::string path = analysis::path_of(profile_, UnitId(i));
    insert.row(i, std::string_view(path), text(unit.name), stable_name(unit.engine), unit.device,
               unit.core, unit.lane, row_id(index_of(unit.parent)), known(text(unit.process_id)),
               known(text(unit.thread_id)));
  }
}

void SqliteTables::ops() {
  SqliteInsert insert(database_, "INSERT INTO ops VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (std::size_t i = 0; i < profile_.ops.size(); ++i) {
    const Op& op = profile_.ops[i];
    insert.row(i, text(op.name), known(text(op.kind)), known(text(op.node)),
               known(text(op.node_kind)), stable_name(op.engine), known(text(op.memory)),
               known(text(op.types)), known(text(op.shape)), known(text(op.attributes)),
               known(text(op.operands)), op.output.value, op.core, op.group, op.position, op.id);
  }
}

void SqliteTables::spans() {
  const Spans& spans = profile_.spans;
  const bool cycles = spans.processor_cycles.size() == spans.size();
  const bool instances = spans.instance.size() == spans.size();
  SqliteInsert insert(database_, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?)");
  for (std::size_t row = 0; row < spans.size(); ++row) {
    std::optional<std::int64_t> processor_cycles;
    if (cycles && spans.processor_cycles[row] >= 0) processor_cycles = spans.processor_cycles[row];
    insert.row(row, row_id(index_of(spans.unit[row])), row_id(index_of(spans.op[row])),
               stable_name(spans.kind[row]), spans.start[row], spans.duration[row],
               processor_cycles,
               instances ? row_id(spans.instance[row]) : std::optional<std::uint32_t>());
  }
}

void SqliteTables::arguments() {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t rows = profile_.spans.size();
  if (arguments.shape.size() != rows || rows == 0) return;
  std::map<std::pair<StringId, ArgumentType>, std::size_t> keys;
  std::vector<std::vector<std::size_t>> keys_of_shape;
  SqliteInsert new_key(database_, "INSERT INTO argument_keys VALUES(?,?,?)");
  for (const ArgumentShape& shape : arguments.shapes) {
    auto& places = keys_of_shape.emplace_back();
    for (const ArgumentKey& key : shape) {
      const auto [place, is_new] = keys.try_emplace({key.name, key.type}, keys.size());
      places.push_back(place->second);
      if (is_new) new_key.row(place->second, text(key.name), stable_name(key.type));
    }
  }
  SqliteInsert insert(database_, "INSERT INTO arguments VALUES(?,?,?)");
  for (std::size_t row = 0; row < rows && database_.good(); ++row) {
    for (std::size_t place = 0; place < arguments.count(row); ++place) {
      const Argument value = arguments.at(row, place);
      const std::size_t key = keys_of_shape[arguments.shape[row]][place];
      switch (value.key.type) {
        case ArgumentType::null: insert.row(row, key, std::optional<std::int64_t>()); break;
        case ArgumentType::boolean: insert.row(row, key, int(value.boolean())); break;
        case ArgumentType::integer: insert.row(row, key, value.integer()); break;
        // SQLite's integers are signed
        case ArgumentType::unsigned_integer:
          insert.row(row, key, std::string_view(fmt::format("{}", value.unsigned_integer())));
          break;
        case ArgumentType::number: insert.row(row, key, value.number()); break;
        case ArgumentType::text:
        case ArgumentType::json: insert.row(row, key, text(value.text())); break;
      }
    }
  }
}

void SqliteTables::span_numbers() {
  const Spans& spans = profile_.spans;
  SqliteInsert new_column(database_, "INSERT INTO span_columns VALUES(?,?,?,?,?)");
  SqliteInsert insert(database_, "INSERT INTO span_numbers VALUES(?,?,?)");
  for (std::size_t i = 0; i < spans.measures.size(); ++i) {
    const MeasureColumn& column = spans.measures[i];
    const bool has_clock = column.kind != MeasureKind::count;
    new_column.row(i, text(column.what), stable_name(column.kind), stable_name(column.origin),
                   has_clock ? std::optional(index_of(column.clock)) : std::nullopt);
    for (std::size_t row = 0; row < column.values.size() && database_.good(); ++row) {
      if (column.values[row] != MeasureColumn::missing) insert.row(row, i, column.values[row]);
    }
  }
}

void SqliteTables::measures() {
  SqliteInsert insert(database_, "INSERT INTO measures VALUES(?,?,?,?,?,?,?,?)");
  for (const Measure& measure : profile_.measures) {
    const bool has_clock = measure.kind != MeasureKind::count;
    insert.row(stable_name(measure.subject), measure.subject_id, row_id(measure.instance),
               text(measure.what), stable_name(measure.kind), stable_name(measure.origin),
               has_clock ? std::optional(index_of(measure.clock)) : std::nullopt, measure.value);
  }
}

void SqliteTables::relations() {
  SqliteInsert edge(database_, "INSERT INTO edges VALUES(?,?,?)");
  for (const Edge& row : profile_.edges) {
    edge.row(row_id(index_of(row.from)), row_id(index_of(row.to)), stable_name(row.kind));
  }
  SqliteInsert flow(database_, "INSERT INTO flows VALUES(?,?,?,?,?)");
  for (const Flow& row : profile_.flows) {
    flow.row(row_id(index_of(row.from)), row_id(index_of(row.to)), stable_name(row.kind),
             known(text(row.name)), known(text(row.category)));
  }
}

void SqliteTables::counters() {
  const Counters& counters = profile_.counters;
  SqliteInsert series(database_, "INSERT INTO counter_series VALUES(?,?,?,?,?)");
  for (std::size_t i = 0; i < counters.series.size(); ++i) {
    const CounterSeries& row = counters.series[i];
    series.row(i, row_id(index_of(row.unit)), text(row.name), known(text(row.part)),
               known(text(row.quantity)));
  }
  SqliteInsert sample(database_, "INSERT INTO counter_samples VALUES(?,?,?)");
  for (std::size_t i = 0; i < counters.size(); ++i) {
    sample.row(counters.of[i], counters.time[i], counters.value[i]);
  }
}

void SqliteTables::phases() {
  SqliteInsert insert(database_, "INSERT INTO phases VALUES(?,?,?,?,?,?,?,?)");
  for (std::size_t i = 0; i < profile_.phases.size(); ++i) {
    const Phase& phase = profile_.phases[i];
    insert.row(i, text(phase.name), row_id(phase.instance), row_id(index_of(phase.unit)),
               phase.start, phase.duration,
               phase.microseconds >= 0 ? std::optional(phase.microseconds) : std::nullopt,
               parent_number(phase));
  }
}

void SqliteTables::tensors() {
  SqliteInsert insert(database_, "INSERT INTO tensors VALUES(?,?,?,?,?,?,?,?,?)");
  for (std::size_t i = 0; i < profile_.tensors.size(); ++i) {
    const Tensor& tensor = profile_.tensors[i];
    insert.row(i, text(tensor.name), known(text(tensor.type)), known(text(tensor.shape)),
               known(text(tensor.memory)), tensor.size.value, tensor.is_constant,
               row_id(index_of(tensor.producer)), tensor.id);
  }
  SqliteInsert use(database_, "INSERT INTO tensor_uses VALUES(?,?)");
  for (const TensorUse& row : profile_.tensor_uses) {
    use.row(row_id(row.tensor), row_id(index_of(row.consumer)));
  }
}

void SqliteTables::checks_and_notes() {
  SqliteInsert check(database_, "INSERT INTO checks VALUES(?,?,?)");
  for (const Check& row : profile_.checks) {
    check.row(std::string_view(row.name), stable_name(row.outcome), known(row.detail));
  }
  SqliteInsert note(database_, "INSERT INTO notes VALUES(?,?,?,?,?)");
  for (const Note& row : profile_.notes) {
    note.row(stable_name(row.severity), known(valid_utf8(row.file)), row.offset, row.count,
             std::string_view(valid_utf8(row.message)));
  }
}

void SqliteTables::fill() {
  // The file is a temporary one until it is complete: no journal is needed to take it back.
  database_.run(
      "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
      "PRAGMA page_size=8192; PRAGMA cache_size=-64000; BEGIN");
  database_.run(schema);
  about();
  clocks();
  units();
  ops();
  spans();
  arguments();
  span_numbers();
  measures();
  relations();
  counters();
  phases();
  tensors();
  checks_and_notes();
  database_.run(indexes_and_views);
  database_.run("COMMIT");
}

}  // namespace

Result<Exported> write_sqlite(const Profile& profile, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  if (file->temporary_path().empty()) {
    return output_error("{}: a database cannot be written to a pipe or device; name a file",
                        path.string());
  }
  SqliteOutput database(file->temporary_path());
  SqliteTables(profile, database).fill();
  if (const std::string error = database.close(); !error.empty()) {
    return output_error("{}: cannot write the database: {}; make room or choose another disk",
                        path.string(), error);
  }
  if (auto written = file->commit(); !written) return tl::unexpected(written.error());
  std::error_code unknown;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
  return Exported{{}, unknown ? 0 : std::uint64_t(bytes)};
}

}  // namespace npuscope::report
