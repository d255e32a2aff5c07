#include "base/try.hpp"
#include "jobs/export/export.hpp"
#include "jobs/export/file_by_name.hpp"
#include "jobs/export/row_progress.hpp"
#include "profile/own_traces.hpp"
#include "profile/schema.hpp"
#include "query/sqlite_output.hpp"

namespace npuscope::jobs {
namespace {

using query::SqliteInsert;
using query::SqliteOutput;

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

// "CREATE TABLE ops(id INTEGER PRIMARY KEY, name TEXT, …)", and what fills it.
struct TableSql {
  TableSql(const char* name, const std::vector<schema::Field>& columns) {
    for (const schema::Field& field : columns) {
      create += fmt::format("{}\"{}\" {}{}", create.empty() ? "" : ", ", field.name,
                            sql_name(field.type), field.is_row_number ? " PRIMARY KEY" : "");
      insert += insert.empty() ? "?" : ",?";
    }
    create = fmt::format("CREATE TABLE {}({});", name, create);
    insert = fmt::format("INSERT INTO {} VALUES({})", name, insert);
  }
  std::string create, insert;
};

class SqliteTables {
 public:
  SqliteTables(const Profile& profile, SqliteOutput& database, const ProgressReport& progress)
      : source_(profile),
        profile_(profile),
        database_(database),
        progress_(progress, rows_of_tables(source_, [](const schema::Table&) { return true; })) {}

  void fill();

 private:
  void table(const schema::Table& of);
  void arguments(SqliteInsert& insert);
  void span_numbers(SqliteInsert& insert);
  void end_row(SqliteInsert& insert) {
    insert.end_row();
    progress_.add_row();
  }

  const schema::Source source_;
  const Profile& profile_;
  SqliteOutput& database_;
  RowProgress progress_;
};

void SqliteTables::table(const schema::Table& of) {
  std::vector<schema::Field> columns = of.fields;
  std::erase_if(columns, [](const auto& each) { return each.held_by != schema::HeldBy::all; });
  const TableSql sql(of.name, columns);
  database_.run(sql.create.c_str());
  const std::string_view name = of.name;
  const Arguments& values = profile_.spans.arguments;
  std::uint64_t several = name == "span_numbers" ? numbers_of_spans(profile_) : 0;
  if (name == "arguments" && !source_.argument_keys().empty()) {
    for (std::size_t row = 0; row < values.size(); ++row) several += values.count(row);
  }
  SqliteInsert insert(database_, sql.insert, of.rows(source_) + several);
  if (name == "arguments") arguments(insert);
  if (name == "span_numbers") span_numbers(insert);
  const auto rows = schema::Row(of.rows(source_));
  for (schema::Row row = 0; row < rows && database_.good(); ++row) {
    for (const schema::Field& field : columns) {
      add_cell(source_, field, field.get(source_, row), insert);
    }
    end_row(insert);
  }
}

void SqliteTables::arguments(SqliteInsert& insert) {
  const Arguments& arguments = profile_.spans.arguments;
  if (source_.argument_keys().empty()) return;
  for (std::size_t row = 0; row < profile_.spans.size() && database_.good(); ++row) {
    const auto& keys = source_.keys_of_shape(arguments.shape(row));
    for (std::size_t place = 0; place < arguments.count(row); ++place) {
      const Argument value = arguments.at(row, place);
      insert.number(row);
      insert.number(keys[place]);
      if (value.key.type == ArgumentType::unsigned_integer) {  // SQLite's integers are signed
        insert.copy(fmt::format("{}", value.unsigned_integer()));
      } else {
        add_argument(source_, value, insert);
      }
      end_row(insert);
    }
  }
}

void SqliteTables::span_numbers(SqliteInsert& insert) {
  const auto& columns = profile_.spans.measures;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& values = columns[i].values;
    for (std::size_t row = 0; row < values.size() && database_.good(); ++row) {
      if (values[row] == MeasureColumn::missing) continue;
      insert.number(row);
      insert.number(i);
      insert.number(values[row]);
      end_row(insert);
    }
  }
}

void SqliteTables::fill() {
  // The file is a temporary one until it is complete: no journal is needed to take it back.
  database_.run(
      "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
      "PRAGMA page_size=8192; PRAGMA cache_size=-64000; BEGIN");
  for (const schema::Table& each : schema::tables()) table(each);
  database_.run(indexes_and_views);
  database_.run("COMMIT");
}

}  // namespace

Result<Exported> write_sqlite(const Profile& profile, const std::filesystem::path& path,
                              const ProgressReport& progress) {
  TRY_AS(file, FileByName::create(path, "database"));
  SqliteOutput database(file->path());
  SqliteTables(profile, database, progress).fill();
  if (const std::string error = database.close(); !error.empty()) {
    return output_error("{}: cannot write the database: {}; make room or choose another disk",
                        path.string(), error);
  }
  TRY_AS(bytes, file->commit());
  return Exported{{}, *bytes};
}

}  // namespace npuscope::jobs
