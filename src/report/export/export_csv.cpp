#include <algorithm>
#include <limits>
#include <map>

#include "npuscope/analysis/units.hpp"
#include "npuscope/base/files.hpp"
#include "npuscope/base/text.hpp"
#include "npuscope/report/export.hpp"
#include "profile/numbered_phases.hpp"
#include "report/document/names.hpp"
#include "report/export/csv_output.hpp"

namespace npuscope::report {
namespace {

constexpr std::size_t most_argument_columns = 200;

class CsvTables {
 public:
  explicit CsvTables(const Profile& profile) : profile_(profile) {}

  using Table = void (CsvTables::*)(Csv&);
  struct Entry {
    const char* name;
    std::size_t rows;
    Table table;
  };
  std::vector<Entry> all() const;
  void spans(Csv& csv);
  void measures(Csv& csv);
  Losses take_losses() { return std::move(losses_); }

 private:
  std::string_view text(StringId id) const { return profile_.text(id); }
  std::string_view clock_name(MeasureKind kind, ClockId clock) const;
  std::vector<StringId> argument_names();
  void argument(Csv& csv, const Argument& value) const;
  void clocks(Csv& csv);
  void units(Csv& csv);
  void ops(Csv& csv);
  void edges(Csv& csv);
  void flows(Csv& csv);
  void counters(Csv& csv);
  void phases(Csv& csv);
  void tensors(Csv& csv);
  void tensor_uses(Csv& csv);
  void checks(Csv& csv);
  void notes(Csv& csv);

  const Profile& profile_;
  Losses losses_;
};

std::string_view CsvTables::clock_name(MeasureKind kind, ClockId clock) const {
  if (kind == MeasureKind::count || index_of(clock) >= profile_.clocks.size()) return "";
  return text(profile_.clocks[index_of(clock)].name);
}

void CsvTables::clocks(Csv& csv) {
  csv.header({"id", "name", "kind", "hertz", "is_base"});
  csv.end_row();
  for (std::size_t i = 0; i < profile_.clocks.size(); ++i) {
    const Clock& clock = profile_.clocks[i];
    csv.number(i);
    csv.text(text(clock.name));
    csv.text(stable_name(clock.kind));
    clock.rate.value > 0 ? csv.number(clock.rate.value) : csv.nothing();
    csv.number(int(i == index_of(profile_.base_clock)));
    csv.end_row();
  }
}

void CsvTables::units(Csv& csv) {
  csv.header({"id", "path", "name", "engine", "device", "core", "lane", "parent", "process_id",
              "thread_id"});
  csv.end_row();
  for (std::uint32_t i = 0; i < profile_.units.size(); ++i) {
    const Unit& unit = profile_.units[i];
    csv.number(i);
    csv.text(analysis::path_of(profile_, UnitId(i)));
    csv.text(text(unit.name));
    csv.text(stable_name(unit.engine));
    csv.number(unit.device);
    csv.number(unit.core);
    csv.number(unit.lane);
    csv.id(index_of(unit.parent));
    csv.text(text(unit.process_id));
    csv.text(text(unit.thread_id));
    csv.end_row();
  }
}

void CsvTables::ops(Csv& csv) {
  csv.header({"id", "name", "kind", "node", "node_kind", "engine", "memory", "types", "shape",
              "attributes", "operands", "output_bytes", "core", "group", "position", "vendor_id"});
  csv.end_row();
  for (std::size_t i = 0; i < profile_.ops.size(); ++i) {
    const Op& op = profile_.ops[i];
    csv.number(i);
    for (const StringId id : {op.name, op.kind, op.node, op.node_kind}) csv.text(text(id));
    csv.text(stable_name(op.engine));
    for (const StringId id : {op.memory, op.types, op.shape, op.attributes, op.operands}) {
      csv.text(text(id));
    }
    csv.number(op.output.value);
    csv.number(op.core);
    csv.number(op.group);
    csv.number(op.position);
    csv.number(op.id);
    csv.end_row();
  }
}

// The keys that rows have, in the order in which they are met.
std::vector<StringId> CsvTables::argument_names() {
  std::vector<StringId> names;
  std::uint64_t left = 0;
  for (const ArgumentShape& shape : profile_.spans.arguments.shapes) {
    for (const ArgumentKey& key : shape) {
      if (std::find(names.begin(), names.end(), key.name) != names.end()) continue;
      if (names.size() < most_argument_columns) {
        names.push_back(key.name);
      } else {
        left += 1;
      }
    }
  }
  losses_.add("keys of arguments: a table has 200 columns for them", left);
  return names;
}

void CsvTables::argument(Csv& csv, const Argument& value) const {
  switch (value.key.type) {
    case ArgumentType::null: csv.nothing(); break;
    case ArgumentType::boolean: csv.text(value.boolean() ? "true" : "false"); break;
    case ArgumentType::integer: csv.number(value.integer()); break;
    case ArgumentType::unsigned_integer: csv.number(value.unsigned_integer()); break;
    case ArgumentType::number: csv.number(value.number()); break;
    case ArgumentType::text:
    case ArgumentType::json: csv.text(text(value.text())); break;
  }
}

void CsvTables::spans(Csv& csv) {
  const Spans& spans = profile_.spans;
  std::vector<std::string> paths;
  for (std::uint32_t i = 0; i < profile_.units.size(); ++i) {
    paths.push_back(analysis::path_of(profile_, UnitId(i)));
  }
  const bool cycles = spans.processor_cycles.size() == spans.size();
  const bool instances = spans.instance.size() == spans.size();
  const bool has_arguments = spans.arguments.shape.size() == spans.size();
  const auto names = has_arguments ? argument_names() : std::vector<StringId>{};
  csv.header({"id", "unit_id", "unit", "op_id", "op", "kind", "node", "span", "start", "duration"});
  if (cycles) csv.text("processor_cycles");
  if (instances) csv.text("inference");
  for (const MeasureColumn& measure : spans.measures) csv.text(text(measure.what));
  for (const StringId name : names) csv.text("arg " + std::string(text(name)));
  csv.end_row();
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t unit = index_of(spans.unit[row]), op = index_of(spans.op[row]);
    const bool has_op = op < profile_.ops.size();
    csv.number(row);
    csv.id(unit);
    csv.text(unit < paths.size() ? std::string_view(paths[unit]) : "");
    csv.id(op);
    csv.text(has_op ? text(profile_.ops[op].name) : "");
    csv.text(has_op ? text(profile_.ops[op].kind) : "");
    csv.text(has_op ? text(profile_.ops[op].node) : "");
    csv.text(stable_name(spans.kind[row]));
    csv.number(spans.start[row]);
    csv.number(spans.duration[row]);
    if (cycles) {
      spans.processor_cycles[row] >= 0 ? csv.number(spans.processor_cycles[row]) : csv.nothing();
    }
    if (instances) csv.id(spans.instance[row]);
    for (const MeasureColumn& measure : spans.measures) {
      const bool known =
          row < measure.values.size() && measure.values[row] != MeasureColumn::missing;
      known ? csv.number(measure.values[row]) : csv.nothing();
    }
    for (const StringId name : names) {
      const auto value = spans.arguments.find(row, name);
      value ? argument(csv, *value) : csv.nothing();
    }
    csv.end_row();
  }
}

void CsvTables::measures(Csv& csv) {
  csv.header({"subject", "subject_id", "subject_name", "inference", "name", "kind", "origin",
              "clock", "value"});
  csv.end_row();
  for (const Measure& measure : profile_.measures) {
    std::string name;
    const std::uint32_t id = measure.subject_id;
    if (measure.subject == Measure::Subject::unit && id < profile_.units.size()) {
      name = analysis::path_of(profile_, UnitId(id));
    } else if (measure.subject == Measure::Subject::op && id < profile_.ops.size()) {
      name = text(profile_.ops[id].name);
    } else if (measure.subject == Measure::Subject::phase && id < profile_.phases.size()) {
      name = text(profile_.phases[id].name);
    }
    csv.text(stable_name(measure.subject));
    csv.number(id);
    csv.text(name);
    csv.id(measure.instance);
    csv.text(text(measure.what));
    csv.text(stable_name(measure.kind));
    csv.text(stable_name(measure.origin));
    csv.text(clock_name(measure.kind, measure.clock));
    csv.number(measure.value);
    csv.end_row();
  }
}

void CsvTables::edges(Csv& csv) {
  csv.header({"from_op", "to_op", "kind"});
  csv.end_row();
  for (const Edge& edge : profile_.edges) {
    csv.id(index_of(edge.from));
    csv.id(index_of(edge.to));
    csv.text(stable_name(edge.kind));
    csv.end_row();
  }
}

void CsvTables::flows(Csv& csv) {
  csv.header({"from_span", "to_span", "kind", "name", "category"});
  csv.end_row();
  for (const Flow& flow : profile_.flows) {
    csv.id(index_of(flow.from));
    csv.id(index_of(flow.to));
    csv.text(stable_name(flow.kind));
    csv.text(text(flow.name));
    csv.text(text(flow.category));
    csv.end_row();
  }
}

void CsvTables::counters(Csv& csv) {
  const Counters& counters = profile_.counters;
  csv.header({"unit_id", "name", "part", "quantity", "time", "value"});
  csv.end_row();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (counters.of[i] >= counters.series.size()) continue;
    const CounterSeries& series = counters.series[counters.of[i]];
    csv.id(index_of(series.unit));
    csv.text(text(series.name));
    csv.text(text(series.part));
    csv.text(text(series.quantity));
    csv.number(counters.time[i]);
    csv.number(counters.value[i]);
    csv.end_row();
  }
}

void CsvTables::phases(Csv& csv) {
  csv.header({"id", "name", "inference", "unit_id", "start", "duration", "microseconds", "parent"});
  csv.end_row();
  for (std::size_t i = 0; i < profile_.phases.size(); ++i) {
    const Phase& phase = profile_.phases[i];
    csv.number(i);
    csv.text(text(phase.name));
    csv.id(phase.instance);
    csv.id(index_of(phase.unit));
    csv.number(phase.start);
    csv.number(phase.duration);
    phase.microseconds >= 0 ? csv.number(phase.microseconds) : csv.nothing();
    const auto parent = parent_number(phase);
    parent ? csv.number(*parent) : csv.nothing();
    csv.end_row();
  }
}

void CsvTables::tensors(Csv& csv) {
  csv.header({"id", "name", "type", "shape", "memory", "bytes", "is_constant", "producer_op",
              "vendor_id"});
  csv.end_row();
  for (std::size_t i = 0; i < profile_.tensors.size(); ++i) {
    const Tensor& tensor = profile_.tensors[i];
    csv.number(i);
    for (const StringId id : {tensor.name, tensor.type, tensor.shape, tensor.memory}) {
      csv.text(text(id));
    }
    csv.number(tensor.size.value);
    csv.number(int(tensor.is_constant));
    csv.id(index_of(tensor.producer));
    csv.number(tensor.id);
    csv.end_row();
  }
}

void CsvTables::tensor_uses(Csv& csv) {
  csv.header({"tensor", "consumer_op"});
  csv.end_row();
  for (const TensorUse& use : profile_.tensor_uses) {
    csv.id(use.tensor);
    csv.id(index_of(use.consumer));
    csv.end_row();
  }
}

void CsvTables::checks(Csv& csv) {
  csv.header({"name", "outcome", "detail"});
  csv.end_row();
  for (const Check& check : profile_.checks) {
    csv.text(check.name);
    csv.text(stable_name(check.outcome));
    csv.text(check.detail);
    csv.end_row();
  }
}

void CsvTables::notes(Csv& csv) {
  csv.header({"severity", "file", "offset", "count", "message"});
  csv.end_row();
  for (const Note& note : profile_.notes) {
    csv.text(stable_name(note.severity));
    csv.text(valid_utf8(note.file));
    csv.number(note.offset);
    csv.number(note.count);
    csv.text(valid_utf8(note.message));
    csv.end_row();
  }
}

std::vector<CsvTables::Entry> CsvTables::all() const {
  return {{"clocks", profile_.clocks.size(), &CsvTables::clocks},
          {"units", profile_.units.size(), &CsvTables::units},
          {"ops", profile_.ops.size(), &CsvTables::ops},
          {"spans", profile_.spans.size(), &CsvTables::spans},
          {"measures", profile_.measures.size(), &CsvTables::measures},
          {"edges", profile_.edges.size(), &CsvTables::edges},
          {"flows", profile_.flows.size(), &CsvTables::flows},
          {"counters", profile_.counters.size(), &CsvTables::counters},
          {"phases", profile_.phases.size(), &CsvTables::phases},
          {"tensors", profile_.tensors.size(), &CsvTables::tensors},
          {"tensor_uses", profile_.tensor_uses.size(), &CsvTables::tensor_uses},
          {"checks", profile_.checks.size(), &CsvTables::checks},
          {"notes", profile_.notes.size(), &CsvTables::notes}};
}

// How many bytes it has.
Result<std::uint64_t> write_table(CsvTables& tables, CsvTables::Table table,
                                  const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  const std::function<void(std::string_view)> sink = [&](std::string_view piece) {
    file->write(piece);
  };
  TextOutput out(sink);
  Csv csv(out);
  (tables.*table)(csv);
  out.flush();
  if (auto written = file->commit(); !written) return tl::unexpected(written.error());
  return file->bytes_written();
}

Result<Exported> write_folder(const Profile& profile, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    return output_error("{}: the folder cannot be made ({}); name another", folder.string(),
                        failed.message());
  }
  if (auto usable = check_writable_folder(folder); !usable) return tl::unexpected(usable.error());
  CsvTables tables(profile);
  std::uint64_t bytes = 0;
  for (const auto& entry : tables.all()) {
    const auto path = folder / (std::string(entry.name) + ".csv");
    if (entry.rows == 0) {  // another profile's table beside this one's would pass for its own
      std::filesystem::remove(path, failed);
      continue;
    }
    const auto written = write_table(tables, entry.table, path);
    if (!written) return tl::unexpected(written.error());
    bytes += *written;
  }
  return Exported{tables.take_losses(), bytes};
}

}  // namespace

Result<Exported> write_csv(const Profile& profile, const std::filesystem::path& path) {
  std::error_code unknown;
  if (!path.has_filename() || std::filesystem::is_directory(path, unknown)) {
    return write_folder(profile, path);
  }
  CsvTables tables(profile);
  const bool has_spans = profile.spans.size() > 0;
  const auto table = has_spans ? &CsvTables::spans : &CsvTables::measures;
  const auto written = write_table(tables, table, path);
  if (!written) return tl::unexpected(written.error());
  Losses losses = tables.take_losses();
  for (const auto& entry : tables.all()) {
    const std::string_view name = entry.name;
    if (name == (has_spans ? "spans" : "measures") || name == "clocks") continue;
    const bool is_named_in_spans = has_spans && (name == "units" || name == "ops");
    if (is_named_in_spans) continue;
    losses.add(fmt::format("rows of {} (name a folder to get every table)", name), entry.rows);
  }
  return Exported{std::move(losses), *written};
}

}  // namespace npuscope::report
