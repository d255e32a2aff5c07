#include "npuscope/base/files.hpp"
#include "npuscope/report/export.hpp"
#include "profile/numbered_phases.hpp"
#include "profile/text_output.hpp"
#include "report/document/names.hpp"

namespace npuscope::report {
namespace {

// A profile has 1.3 million rows and more: written as text, never built as a tree.
class ProfileJson {
 public:
  ProfileJson(const Profile& profile, const std::function<void(std::string_view)>& sink)
      : profile_(profile), strings_(profile.strings), out_(sink) {}

  void write();
  std::uint64_t not_finite() const { return not_finite_; }

 private:
  void key(const char* name);
  void text(std::string_view value);
  void string(StringId id);
  void number(double value);
  void boolean(bool value) { out_.add(value ? "true" : "false"); }
  template <class Whole>
  void whole(Whole value) {
    out_.add_number(value);
  }
  // Rows that do not exist are null.
  void row_id(std::uint32_t id) { id == every_instance ? out_.add("null") : out_.add_number(id); }
  void open(const char* name);  // "name":{
  void close() { out_.add("}"); }
  // "name":[one(0),one(1),…]
  void column(const char* name, std::size_t rows, auto one);

  void provenance();
  void clocks();
  void units();
  void ops();
  void spans();
  void arguments();
  void argument(const Argument& value);
  void measures();
  void relations();
  void counters();
  void phases();
  void tensors();
  void checks_and_notes();

  const Profile& profile_;
  JsonStrings strings_;
  TextOutput out_;
  std::string scratch_;
  bool first_ = true;  // in the object being written
  std::uint64_t not_finite_ = 0;
};

void ProfileJson::key(const char* name) {
  out_.add(first_ ? "\n" : ",\n");
  first_ = false;
  out_.add('"');
  out_.add(name);
  out_.add("\":");
}

void ProfileJson::text(std::string_view value) {
  scratch_ = "\"";
  append_json_escaped(scratch_, value);
  scratch_ += '"';
  out_.add(scratch_);
}

void ProfileJson::string(StringId id) {
  out_.add('"');
  strings_.add(out_, id);
  out_.add('"');
}

void ProfileJson::number(double value) {
  if (std::isfinite(value)) return out_.add_number(value);
  not_finite_ += 1;
  out_.add("null");
}

void ProfileJson::open(const char* name) {
  key(name);
  out_.add('{');
  first_ = true;
}

void ProfileJson::column(const char* name, std::size_t rows, auto one) {
  key(name);
  out_.add('[');
  for (std::size_t row = 0; row < rows; ++row) {
    if (row > 0) out_.add(',');
    one(row);
  }
  out_.add(']');
}

void ProfileJson::provenance() {
  const Provenance& from = profile_.provenance;
  open("provenance");
  column("files", from.files.size(), [&](std::size_t i) { text(from.files[i]); });
  const std::pair<const char*, const std::string*> texts[] = {
      {"format", &from.format},
      {"version", &from.version},
      {"device", &from.device},
      {"graph", &from.graph},
      {"instrumentation", &from.instrumentation}};
  for (const auto& [name, value] : texts) {
    key(name);
    text(*value);
  }
  key("inferences");
  whole(from.inferences);
  key("temperature");
  text(stable_name(from.temperature));
  close();
}

void ProfileJson::clocks() {
  const auto& clocks = profile_.clocks;
  open("clocks");
  column("name", clocks.size(), [&](std::size_t i) { string(clocks[i].name); });
  column("kind", clocks.size(), [&](std::size_t i) { text(stable_name(clocks[i].kind)); });
  column("hertz", clocks.size(), [&](std::size_t i) {
    clocks[i].rate.value > 0 ? number(clocks[i].rate.value) : out_.add("null");
  });
  column("offset", clocks.size(), [&](std::size_t i) {
    clocks[i].offset_known ? whole(clocks[i].offset) : out_.add("null");
  });
  close();
  first_ = false;
  key("base_clock");
  whole(index_of(profile_.base_clock));
}

void ProfileJson::units() {
  const auto& units = profile_.units;
  const std::size_t rows = units.size();
  open("units");
  column("name", rows, [&](std::size_t i) { string(units[i].name); });
  column("engine", rows, [&](std::size_t i) { text(stable_name(units[i].engine)); });
  column("device", rows, [&](std::size_t i) { whole(units[i].device); });
  column("core", rows, [&](std::size_t i) { whole(units[i].core); });
  column("lane", rows, [&](std::size_t i) { whole(units[i].lane); });
  column("parent", rows, [&](std::size_t i) { row_id(index_of(units[i].parent)); });
  column("process_id", rows, [&](std::size_t i) { string(units[i].process_id); });
  column("thread_id", rows, [&](std::size_t i) { string(units[i].thread_id); });
  close();
}

void ProfileJson::ops() {
  const auto& ops = profile_.ops;
  const std::size_t rows = ops.size();
  open("ops");
  const auto texts = [&](const char* name, StringId Op::*member) {
    column(name, rows, [&](std::size_t i) { string(ops[i].*member); });
  };
  texts("name", &Op::name);
  texts("kind", &Op::kind);
  texts("node", &Op::node);
  texts("node_kind", &Op::node_kind);
  texts("memory", &Op::memory);
  texts("types", &Op::types);
  texts("shape", &Op::shape);
  texts("attributes", &Op::attributes);
  texts("operands", &Op::operands);
  column("engine", rows, [&](std::size_t i) { text(stable_name(ops[i].engine)); });
  column("output_bytes", rows, [&](std::size_t i) { whole(ops[i].output.value); });
  column("core", rows, [&](std::size_t i) { whole(ops[i].core); });
  column("group", rows, [&](std::size_t i) { whole(ops[i].group); });
  column("position", rows, [&](std::size_t i) { whole(ops[i].position); });
  column("vendor_id", rows, [&](std::size_t i) { whole(ops[i].id); });
  close();
}

void ProfileJson::argument(const Argument& value) {
  switch (value.key.type) {
    case ArgumentType::null: out_.add("null"); break;
    case ArgumentType::boolean: boolean(value.boolean()); break;
    case ArgumentType::integer: whole(value.integer()); break;
    case ArgumentType::unsigned_integer: whole(value.unsigned_integer()); break;
    case ArgumentType::number: number(value.number()); break;
    case ArgumentType::text: string(value.text()); break;
    case ArgumentType::json: out_.add(profile_.text(value.text())); break;
  }
}

void ProfileJson::arguments() {
  const Arguments& arguments = profile_.spans.arguments;
  const std::size_t rows = profile_.spans.size();
  if (arguments.shape.size() != rows || rows == 0) return;
  open("arguments");
  column("shapes", arguments.shapes.size(), [&](std::size_t i) {
    out_.add('[');
    for (std::size_t place = 0; place < arguments.shapes[i].size(); ++place) {
      const ArgumentKey& argument_key = arguments.shapes[i][place];
      out_.add(place > 0 ? ",[" : "[");
      string(argument_key.name);
      out_.add(',');
      text(stable_name(argument_key.type));
      out_.add(']');
    }
    out_.add(']');
  });
  column("shape", rows, [&](std::size_t i) { whole(arguments.shape[i]); });
  column("values", rows, [&](std::size_t row) {
    out_.add('[');
    for (std::size_t place = 0; place < arguments.count(row); ++place) {
      if (place > 0) out_.add(',');
      argument(arguments.at(row, place));
    }
    out_.add(']');
  });
  close();
  first_ = false;
}

void ProfileJson::spans() {
  const Spans& spans = profile_.spans;
  const std::size_t rows = spans.size();
  open("spans");
  column("unit", rows, [&](std::size_t i) { row_id(index_of(spans.unit[i])); });
  column("op", rows, [&](std::size_t i) { row_id(index_of(spans.op[i])); });
  column("kind", rows, [&](std::size_t i) { text(stable_name(spans.kind[i])); });
  column("start", rows, [&](std::size_t i) { whole(spans.start[i]); });
  column("duration", rows, [&](std::size_t i) { whole(spans.duration[i]); });
  if (spans.processor_cycles.size() == rows && rows > 0) {
    column("processor_cycles", rows, [&](std::size_t i) {
      spans.processor_cycles[i] >= 0 ? whole(spans.processor_cycles[i]) : out_.add("null");
    });
  }
  if (spans.instance.size() == rows && rows > 0) {
    column("inference", rows, [&](std::size_t i) { row_id(spans.instance[i]); });
  }
  arguments();
  column("measures", spans.measures.size(), [&](std::size_t i) {
    const MeasureColumn& measure = spans.measures[i];
    out_.add('{');
    first_ = true;
    key("name");
    string(measure.what);
    key("kind");
    text(stable_name(measure.kind));
    key("origin");
    text(stable_name(measure.origin));
    key("clock");
    measure.kind == MeasureKind::count ? out_.add("null") : whole(index_of(measure.clock));
    column("values", measure.values.size(), [&](std::size_t row) {
      measure.values[row] != MeasureColumn::missing ? whole(measure.values[row]) : out_.add("null");
    });
    out_.add('}');
  });
  close();
}

void ProfileJson::measures() {
  const auto& measures = profile_.measures;
  const std::size_t rows = measures.size();
  open("measures");
  column("subject", rows, [&](std::size_t i) { text(stable_name(measures[i].subject)); });
  column("subject_id", rows, [&](std::size_t i) { whole(measures[i].subject_id); });
  column("name", rows, [&](std::size_t i) { string(measures[i].what); });
  column("kind", rows, [&](std::size_t i) { text(stable_name(measures[i].kind)); });
  column("origin", rows, [&](std::size_t i) { text(stable_name(measures[i].origin)); });
  column("clock", rows, [&](std::size_t i) {
    measures[i].kind == MeasureKind::count ? out_.add("null") : whole(index_of(measures[i].clock));
  });
  column("inference", rows, [&](std::size_t i) { row_id(measures[i].instance); });
  column("value", rows, [&](std::size_t i) { number(measures[i].value); });
  close();
}

void ProfileJson::relations() {
  const auto& edges = profile_.edges;
  open("edges");
  column("from_op", edges.size(), [&](std::size_t i) { row_id(index_of(edges[i].from)); });
  column("to_op", edges.size(), [&](std::size_t i) { row_id(index_of(edges[i].to)); });
  column("kind", edges.size(), [&](std::size_t i) { text(stable_name(edges[i].kind)); });
  close();
  first_ = false;
  const auto& flows = profile_.flows;
  open("flows");
  column("from_span", flows.size(), [&](std::size_t i) { row_id(index_of(flows[i].from)); });
  column("to_span", flows.size(), [&](std::size_t i) { row_id(index_of(flows[i].to)); });
  column("kind", flows.size(), [&](std::size_t i) { text(stable_name(flows[i].kind)); });
  column("name", flows.size(), [&](std::size_t i) { string(flows[i].name); });
  column("category", flows.size(), [&](std::size_t i) { string(flows[i].category); });
  close();
}

void ProfileJson::counters() {
  const Counters& counters = profile_.counters;
  open("counter_series");
  const std::size_t series = counters.series.size();
  column("unit", series, [&](std::size_t i) { row_id(index_of(counters.series[i].unit)); });
  column("name", series, [&](std::size_t i) { string(counters.series[i].name); });
  column("part", series, [&](std::size_t i) { string(counters.series[i].part); });
  column("quantity", series, [&](std::size_t i) { string(counters.series[i].quantity); });
  close();
  first_ = false;
  open("counter_samples");
  column("series", counters.size(), [&](std::size_t i) { whole(counters.of[i]); });
  column("time", counters.size(), [&](std::size_t i) { whole(counters.time[i]); });
  column("value", counters.size(), [&](std::size_t i) { number(counters.value[i]); });
  close();
}

void ProfileJson::phases() {
  const auto& phases = profile_.phases;
  const std::size_t rows = phases.size();
  open("phases");
  column("name", rows, [&](std::size_t i) { string(phases[i].name); });
  column("inference", rows, [&](std::size_t i) { row_id(phases[i].instance); });
  column("unit", rows, [&](std::size_t i) { row_id(index_of(phases[i].unit)); });
  column("start", rows, [&](std::size_t i) { whole(phases[i].start); });
  column("duration", rows, [&](std::size_t i) { whole(phases[i].duration); });
  column("microseconds", rows, [&](std::size_t i) {
    phases[i].microseconds >= 0 ? number(phases[i].microseconds) : out_.add("null");
  });
  column("parent", rows, [&](std::size_t i) {
    const auto parent = parent_number(phases[i]);
    parent ? whole(*parent) : out_.add("null");
  });
  close();
}

void ProfileJson::tensors() {
  const auto& tensors = profile_.tensors;
  const std::size_t rows = tensors.size();
  open("tensors");
  column("name", rows, [&](std::size_t i) { string(tensors[i].name); });
  column("type", rows, [&](std::size_t i) { string(tensors[i].type); });
  column("shape", rows, [&](std::size_t i) { string(tensors[i].shape); });
  column("memory", rows, [&](std::size_t i) { string(tensors[i].memory); });
  column("bytes", rows, [&](std::size_t i) { whole(tensors[i].size.value); });
  column("is_constant", rows, [&](std::size_t i) { boolean(tensors[i].is_constant); });
  column("producer_op", rows, [&](std::size_t i) { row_id(index_of(tensors[i].producer)); });
  column("vendor_id", rows, [&](std::size_t i) { whole(tensors[i].id); });
  close();
  first_ = false;
  const auto& uses = profile_.tensor_uses;
  open("tensor_uses");
  column("tensor", uses.size(), [&](std::size_t i) { row_id(uses[i].tensor); });
  column("consumer_op", uses.size(), [&](std::size_t i) { row_id(index_of(uses[i].consumer)); });
  close();
}

void ProfileJson::checks_and_notes() {
  const auto& checks = profile_.checks;
  open("checks");
  column("name", checks.size(), [&](std::size_t i) { text(checks[i].name); });
  column("outcome", checks.size(), [&](std::size_t i) { text(stable_name(checks[i].outcome)); });
  column("detail", checks.size(), [&](std::size_t i) { text(checks[i].detail); });
  close();
  first_ = false;
  const auto& notes = profile_.notes;
  open("notes");
  column("severity", notes.size(), [&](std::size_t i) { text(stable_name(notes[i].severity)); });
  column("file", notes.size(), [&](std::size_t i) { text(notes[i].file); });
  column("offset", notes.size(), [&](std::size_t i) { whole(notes[i].offset); });
  column("count", notes.size(), [&](std::size_t i) { whole(notes[i].count); });
  column("message", notes.size(), [&](std::size_t i) { text(notes[i].message); });
  close();
}

void ProfileJson::write() {
  out_.add('{');
  key("npuscope_profile");
  whole(1);
  using Part = void (ProfileJson::*)();
  for (const Part part : {&ProfileJson::provenance, &ProfileJson::clocks, &ProfileJson::units,
                          &ProfileJson::ops, &ProfileJson::spans, &ProfileJson::measures,
                          &ProfileJson::relations, &ProfileJson::counters, &ProfileJson::phases,
                          &ProfileJson::tensors, &ProfileJson::checks_and_notes}) {
    (this->*part)();
    first_ = false;
  }
  out_.add("\n}\n");
  out_.flush();
}

}  // namespace

Result<Exported> write_json(const Profile& profile, const std::filesystem::path& path) {
  auto file = AtomicFile::create(path);
  if (!file) return tl::unexpected(file.error());
  const std::function<void(std::string_view)> sink = [&](std::string_view piece) {
    file->write(piece);
  };
  ProfileJson json(profile, sink);
  json.write();
  if (auto written = file->commit(); !written) return tl::unexpected(written.error());
  Exported exported{{}, file->bytes_written()};
  exported.losses.add("numbers that are not finite", json.not_finite());
  return exported;
}

}  // namespace npuscope::report
