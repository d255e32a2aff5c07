#include "query/schema.hpp"

#include <fmt/ranges.h>

#include "query/module.hpp"

namespace npuscope::query {
namespace {

// "what it counts (wall, timer, unit_cycles)"
std::string meaning_of(const Field& field) {
  if (field.names.empty()) return field.meaning;
  return fmt::format("{} ({})", field.meaning, fmt::join(field.names, ", "));
}

TableInfo info_of(const schema::Table& type) {
  TableInfo table{type.name, type.meaning, {}, {}};
  for (const Field& field : type.fields) {
    table.columns.push_back({field.name, sql_name(field.type), meaning_of(field),
                             name_of(field.unit), field.is_nullable, field.held_by});
  }
  return table;
}

}  // namespace

const std::vector<TableInfo>& schema() {
  static const std::vector<TableInfo> all = [] {
    std::vector<TableInfo> tables;
    for (const schema::Table& type : all_tables()) tables.push_back(info_of(type));
    for (const schema::Table& type : pair_tables()) tables.push_back(info_of(type));
    tables.insert(tables.end(), views().begin(), views().end());
    return tables;
  }();
  return all;
}

namespace {

// As in an exported database (docs/formats/exports.md).
std::vector<TableInfo> exported_views() {
  return {
      {"named_spans",
       "spans with names instead of ids",
       R"(SELECT id, unit_path AS unit, unit_engine, op_name AS op, op_kind, node, kind, start,
  duration, "end", processor_cycles, inference
FROM spans)",
       {{"id", "INTEGER", "spans.id"},
        {"unit", "TEXT", "units.path"},
        {"unit_engine", "TEXT", "units.engine"},
        {"op", "TEXT", "ops.name"},
        {"op_kind", "TEXT", "ops.kind"},
        {"node", "TEXT", "ops.node"},
        {"kind", "TEXT", "spans.kind"},
        {"start", "INTEGER", "ticks of the base clock"},
        {"duration", "INTEGER", "ticks of the base clock"},
        {"end", "INTEGER", "ticks of the base clock"},
        {"processor_cycles", "INTEGER", "cycles of the unit's own clock"},
        {"inference", "INTEGER", "which inference, from 0"}}},
      {"span_arguments",
       "arguments with their names",
       R"(SELECT arguments.span, argument_keys.name, argument_keys.type, arguments.value
FROM arguments JOIN argument_keys ON argument_keys.id = arguments.key)",
       {{"span", "INTEGER", "spans.id"},
        {"name", "TEXT", "as the trace has it"},
        {"type", "TEXT", "argument_keys.type"},
        {"value", "", "integer, real or text"}}},
      {"span_measures",
       "numbers of spans with their names",
       R"(SELECT span_numbers.span, span_columns.name, span_columns.kind, span_columns.origin,
  span_columns.clock, span_numbers.value
FROM span_numbers JOIN span_columns ON span_columns.id = span_numbers.column_id)",
       {{"span", "INTEGER", "spans.id"},
        {"name", "TEXT", "what is counted"},
        {"kind", "TEXT", "as of measures"},
        {"origin", "TEXT", "as of measures"},
        {"clock", "INTEGER", "clocks.id"},
        {"value", "INTEGER", "the number"}}},
  };
}

std::vector<ColumnInfo> work_columns(std::vector<ColumnInfo> group) {
  group.push_back({"spans", "INTEGER", "how many: one for each unit and inference that ran it"});
  group.push_back({"work", "INTEGER",
                   "sum over them in ticks, nested slices once; several units "
                   "at once count several times"});
  group.push_back({"least", "INTEGER", "the shortest duration"});
  group.push_back({"mean", "REAL", "of the durations"});
  group.push_back({"most", "INTEGER", "the longest"});
  return group;
}

std::string work_by(const std::string& selected, const std::string& group) {
  return "SELECT " + selected +
         ", count(*) AS spans, sum(own_duration) AS work,\n"
         "  min(duration) AS least, avg(duration) AS mean, max(duration) AS most\n"
         "FROM spans WHERE role = 'work'\nGROUP BY " +
         group;
}

std::vector<TableInfo> work_views() {
  return {
      {"op_times", "what each op costs, over all inferences",
       work_by("op_name AS op, op_kind AS kind, node", "op_name, op_kind, node"),
       work_columns({{"op", "TEXT", "ops.name"},
                     {"kind", "TEXT", "ops.kind"},
                     {"node", "TEXT", "ops.node"}})},
      {"kind_times", "what each kernel costs", work_by("op_kind AS kind", "op_kind"),
       work_columns({{"kind", "TEXT", "ops.kind"}})},
      {"node_times", "what each operator of the model costs", work_by("node", "node"),
       work_columns({{"node", "TEXT", "ops.node"}})},
      {"longest_spans",
       "the hundred longest spans of work",
       R"(SELECT id, unit_path AS unit, op_name AS op, op_kind, start, duration, inference
FROM spans WHERE role = 'work' ORDER BY duration DESC, id LIMIT 100)",
       {{"id", "INTEGER", "spans.id"},
        {"unit", "TEXT", "units.path"},
        {"op", "TEXT", "ops.name"},
        {"op_kind", "TEXT", "ops.kind"},
        {"start", "INTEGER", "ticks of the base clock"},
        {"duration", "INTEGER", "ticks of the base clock"},
        {"inference", "INTEGER", "which inference"}}},
  };
}

std::vector<TableInfo> other_views() {
  return {
      {"waits",
       "who waited how, and how long",
       R"(SELECT unit_path AS unit, kind, op_name AS op, count(*) AS waits, sum(duration) AS waited,
  max(duration) AS longest
FROM spans WHERE role = 'wait'
GROUP BY unit_path, kind, op_name)",
       {{"unit", "TEXT", "units.path"},
        {"kind", "TEXT", "sync, barrier, dma_wait"},
        {"op", "TEXT", "ops.name of the op that waits"},
        {"waits", "INTEGER", "how many"},
        {"waited", "INTEGER", "sum over them in ticks; several units at once count several times"},
        {"longest", "INTEGER", "ticks"}}},
      {"inferences",
       "each inference: the first is often a cold one",
       R"(SELECT inference, min(start) AS start, max("end") AS "end",
  max("end") - min(start) AS wall, count(*) AS spans,
  sum(own_duration) FILTER (WHERE role = 'work') AS work
FROM spans WHERE inference IS NOT NULL AND (role IN ('work', 'wait') OR kind = 'inference')
GROUP BY inference)",
       {{"inference", "INTEGER", "from 0"},
        {"start", "INTEGER", "first start, ticks of the base clock"},
        {"end", "INTEGER", "last end"},
        {"wall", "INTEGER", "end - start"},
        {"spans", "INTEGER", "of work, waits and the inference itself"},
        {"work", "INTEGER", "sum over units in ticks"}}},
      {"op_traffic",
       "bytes that each op moves, as its spans say, or as the file says of the op",
       R"(SELECT op_name AS op, 'spans' AS told_by, sum(ddr_read_bytes) AS ddr_read_bytes,
  sum(ddr_write_bytes) AS ddr_write_bytes, sum(vtcm_read_bytes) AS vtcm_read_bytes,
  sum(vtcm_write_bytes) AS vtcm_write_bytes
FROM spans GROUP BY op_name
HAVING count(ddr_read_bytes) + count(ddr_write_bytes) + count(vtcm_read_bytes) +
  count(vtcm_write_bytes) > 0
UNION ALL
SELECT ops.name, 'ops', sum(value) FILTER (WHERE measures.name = 'ddr read bytes'),
  sum(value) FILTER (WHERE measures.name = 'ddr write bytes'),
  sum(value) FILTER (WHERE measures.name = 'vtcm read bytes'),
  sum(value) FILTER (WHERE measures.name = 'vtcm write bytes')
FROM measures JOIN ops ON ops.id = measures.subject_id
WHERE measures.subject = 'op' AND measures.name IN
  ('ddr read bytes', 'ddr write bytes', 'vtcm read bytes', 'vtcm write bytes')
GROUP BY ops.name)",
       {{"op", "TEXT", "ops.name"},
        {"told_by", "TEXT", "spans, or ops: never add the two"},
        {"ddr_read_bytes", "", "over all inferences; NULL: not known"},
        {"ddr_write_bytes", "", "likewise"},
        {"vtcm_read_bytes", "", "likewise"},
        {"vtcm_write_bytes", "", "likewise"}}},
      {"named_edges",
       "dependencies with the names of their ops",
       R"(SELECT edges.from_op, producer.name AS producer, edges.to_op, consumer.name AS consumer,
  edges.kind
FROM edges LEFT JOIN ops AS producer ON producer.id = edges.from_op
LEFT JOIN ops AS consumer ON consumer.id = edges.to_op)",
       {{"from_op", "INTEGER", "ops.id"},
        {"producer", "TEXT", "ops.name"},
        {"to_op", "INTEGER", "ops.id"},
        {"consumer", "TEXT", "ops.name"},
        {"kind", "TEXT", "edges.kind"}}},
  };
}

}  // namespace

const std::vector<TableInfo>& views() {
  static const std::vector<TableInfo> all = [] {
    std::vector<TableInfo> views = exported_views();
    for (const auto& more : {work_views(), other_views()}) {
      views.insert(views.end(), more.begin(), more.end());
    }
    return views;
  }();
  return all;
}

}  // namespace npuscope::query
