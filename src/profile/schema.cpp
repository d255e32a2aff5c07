// The columns of all tables: see schema.hpp. What takes an analysis to compute (own times, roles,
// traffic) is declared the same way in query/derived.hpp.
#include "profile/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope::schema {
namespace {

// A fact as text.
std::optional<std::string_view> fact_text(const Source& source, Row row) {
  const Field& fact = facts()[row];
  const Cell cell = fact.get(source, 0);
  if (cell.type == Type::nothing) return std::nullopt;
  return is_text(cell.type) ? source.text(fact, cell)
                            : source.kept(fmt::format("{}", cell.integer));
}

Table profile() {
  return in_part(
      Part::about,
      table(
          "profile", "facts about the whole profile", [](const Source&) { return facts().size(); },
          field("name",
                "schema, format, version, device, graph, instrumentation, inferences, temperature",
                [](const Source&, Row row) { return std::string_view(facts()[row].name); }),
          field("value", "its value", of<fact_text>)));
}

Table files() {
  return in_part(Part::about, table(
                                  "files", "a file that the profile was read from",
                                  [](const Source& s) { return s.profile.provenance.files.size(); },
                                  field("name", "as it was named", [](const Source& s, Row row) {
                                    return s.in_utf8(s.profile.provenance.files[row]);
                                  })));
}

// What ran where ------------------------------------------------------------------------------

struct RateOfClock {
  std::optional<double> operator()(const Clock& clock) const {
    return clock.rate.value > 0 ? std::optional(clock.rate.value) : std::nullopt;
  }
  static void set(Clock& clock, const Cell& cell) {
    clock.rate = Hertz{std::max(0.0, value_of<std::optional<double>>(cell).value_or(0))};
  }
};
struct OffsetOfClock {
  std::optional<std::int64_t> operator()(const Clock& clock) const {
    return clock.offset_known ? std::optional(clock.offset) : std::nullopt;
  }
  static void set(Clock& clock, const Cell& cell) {
    clock.offset_known = cell.type != Type::nothing;
    clock.offset = value_of<std::optional<std::int64_t>>(cell).value_or(0);
  }
};

Table clocks() {
  return table(
      "clocks", "a time base", rows_in<&Profile::clocks>, field("id", "its number", RowNumber{}),
      field("name", "as the file has it", of<&Clock::name>),
      field("kind", "what it counts", of<&Clock::kind>),
      field("hertz", FieldUnit::hertz, "its rate", RateOfClock{}),
      field("offset", FieldUnit::ticks, "of the base clock, at which it read 0", OffsetOfClock{}),
      field("is_base", "1: the clock of spans, counters and phases",
            [](const Source& s, Row row) { return row == index_of(s.profile.base_clock); }));
}

Table units() {
  return table("units", "a resource that executes one thing at a time", rows_in<&Profile::units>,
               field("id", "its number", RowNumber{}),
               field("path", "its name within its parents': \"card 0 > core 3 > HVX 1\"",
                     [](const Source& s, Row row) { return s.path_of(row); }),
               field("name", "as the file has it", of<&Unit::name>),
               field("engine", "what it is", of<&Unit::engine>),
               field("device", "which device", of<&Unit::device>),
               field("core", "which core of the device", of<&Unit::core>),
               field("lane", "which thread of the core", of<&Unit::lane>),
               field("parent", "units.id", of<&Unit::parent>),
               field("process_id", "pid as the trace has it", known<&Unit::process_id>),
               field("thread_id", "tid as the trace has it", known<&Unit::thread_id>));
}

Table ops() {
  return table(
      "ops", "an operation of the compiled graph", rows_in<&Profile::ops>,
      field("id", "its number", RowNumber{}),
      field("name", "path in the model graph", of<&Op::name>),
      field("kind", "kernel; in a generic trace the category", known<&Op::kind>),
      field("node", "the model's operator that it is part of", known<&Op::node>),
      field("node_kind", "what that operator is", known<&Op::node_kind>),
      field("engine", "the hardware it uses, where the trace says so apart from its unit",
            of<&Op::engine>),
      field("memory", "TCM, DDR", known<&Op::memory>),
      field("types", "distinct element types of its operands", known<&Op::types>),
      field("shape", "of its output", known<&Op::shape>),
      field("attributes", "as the file has them", known<&Op::attributes>),
      field("provider", "to which the runtime gave it, \"QNNExecutionProvider\"",
            known<&Op::provider>),
      field("operands", "one a line", known<&Op::operands>),
      field("output_bytes", FieldUnit::bytes, "size of its output", of<&Op::output>),
      field("core", "core that it is compiled for", of<&Op::core>),
      field("thread_group", "thread group within the core", of<&Op::group>),
      field("position", "place in the group's queue", of<&Op::position>),
      field("vendor_id", "the number that the vendor's files know it by; 0: none", of<&Op::id>),
      field("once_per_inference", "1: its spans in an inference are tiles of one execution",
            of<&Op::once_per_inference>),
      field("split_from",
            "the measured whole whose time its spans share, divided in the proportions of an "
            "estimate",
            known<&Op::split_from>));
}

bool has_processor_cycles(const Profile& profile) {
  const Spans& spans = profile.spans;
  return spans.size() > 0 && spans.processor_cycles.size() == spans.size();
}
std::optional<std::int64_t> processor_cycles_of(const Source& s, Row row) {
  const Spans& spans = s.profile.spans;
  const bool is_known =
      spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0;
  return is_known ? std::optional(spans.processor_cycles[row]) : std::nullopt;
}

bool has_inferences(const Profile& profile) {
  const Spans& spans = profile.spans;
  return spans.size() > 0 && spans.instance.size() == spans.size();
}
Id inference_of(const Source& s, Row row) {
  const Spans& spans = s.profile.spans;
  return Id{spans.instance.size() == spans.size() ? spans.instance[row] : no_row};
}

std::optional<PathId> unit_path_of(const Source& s, Row row) {
  const std::uint32_t unit = index_of(s.profile.spans.unit[row]);
  return unit < s.profile.units.size() ? std::optional(s.path_of(unit)) : std::nullopt;
}
std::optional<Engine> unit_engine_of(const Source& s, Row row) {
  const Unit* unit = s.unit_of(row);
  return unit != nullptr ? std::optional(unit->engine) : std::nullopt;
}
Sum end_of(const Source& s, Row row) {
  return {s.profile.spans.start[row], s.profile.spans.duration[row]};
}

// Of the op of a span, what `get` has of it.
template <class Get>
constexpr auto of_op(Get) {
  return [](const Source& s, Row row) {
    const Op* op = s.op_of(row);
    using Value = typename Unwrapped<std::remove_cvref_t<decltype(Get{}(*op))>>::type;
    return op != nullptr ? std::optional<Value>(Get{}(*op)) : std::nullopt;
  };
}

Table spans() {
  return table(
      "spans", "one execution of an op (or a wait) on one unit",
      [](const Source& s) { return s.profile.spans.size(); },
      field("id", "its number", RowNumber{}), field("unit", "units.id", in_spans<&Spans::unit>),
      field("op", "ops.id", in_spans<&Spans::op>),
      field("kind", "what it is", in_spans<&Spans::kind>),
      field("start", FieldUnit::ticks, "when it begins, by the base clock",
            in_spans<&Spans::start>),
      field("duration", FieldUnit::ticks, "how long it takes, by the base clock",
            in_spans<&Spans::duration>),
      only_where(has_processor_cycles, field("processor_cycles", FieldUnit::cycles,
                                             "of the unit's own clock", of<processor_cycles_of>)),
      only_where(has_inferences, field("inference", "which inference, from 0", of<inference_of>)),
      held_by(HeldBy::names, field("unit_path", "units.path of its unit", of<unit_path_of>)),
      held_by(HeldBy::query, field("unit_engine", "units.engine of its unit", of<unit_engine_of>)),
      held_by(HeldBy::names, field("op_name", "ops.name of its op", of_op(of<&Op::name>))),
      held_by(HeldBy::names, field("op_kind", "ops.kind of its op", of_op(known<&Op::kind>))),
      held_by(HeldBy::names, field("node", "ops.node of its op", of_op(known<&Op::node>))),
      held_by(HeldBy::query, field("end", FieldUnit::ticks, "start + duration", of<end_of>)));
}

Table argument_keys() {
  return in_part(Part::of_spans,
                 table(
                     "argument_keys", "what arguments of spans are called",
                     [](const Source& s) -> const auto& { return s.argument_keys(); },
                     field("id", "its number", RowNumber{}),
                     field("name", "as the trace has it", of<&ArgumentKey::name>),
                     field("type", "of its values", of<&ArgumentKey::type>)));
}

Table arguments() {
  return in_part(Part::of_spans,
                 table("arguments", "what a trace says about a span beside name and time",
                       RowsOfSpans{}, field("span", "spans.id", Several<RowOf>{}),
                       field("key", "argument_keys.id", Several<RowOf>{}),
                       field("value", "integer, real or text; unsigned_integer and json as text",
                             Several<AnyValue>{})));
}

// Counts have no clock.
template <class Number>
Id clock_of(const Number& number) {
  return Id{number.kind == MeasureKind::count ? no_row : index_of(number.clock)};
}

std::optional<NumberRole> known_role(NumberRole role) {
  return role != NumberRole::none ? std::optional(role) : std::nullopt;
}
template <class Number>
std::optional<NumberRole> number_role_of(const Number& number) {
  return known_role(number.meaning.role);
}
template <class Number>
std::optional<Statistic> statistic_of(const Number& number) {
  const Statistic statistic = number.meaning.statistic;
  return statistic != Statistic::none ? std::optional(statistic) : std::nullopt;
}
// Where --schema need not list the names of all values once more.
template <class Enum>
std::optional<std::string_view> name_of(std::optional<Enum> value) {
  return value ? std::optional<std::string_view>(stable_name(*value)) : std::nullopt;
}
template <class Number>
NumberQuantity quantity_of(const Number& number) {
  return number.meaning.quantity;
}
template <class Number>
bool is_additive(const Number& number) {
  return number.meaning.additive;
}

Table span_columns() {
  return in_part(
      Part::of_spans,
      table(
          "span_columns", "a number that (nearly) every span has",
          [](const Source& s) -> const auto& { return s.profile.spans.measures; },
          field("id", "its number", RowNumber{}),
          field("name", "what is counted: \"dominant path\"", of<&MeasureColumn::what>),
          field("kind", "as of measures", of<&MeasureColumn::kind>),
          field("origin", "as of measures", of<&MeasureColumn::origin>),
          field("clock", "clocks.id of a time", of<clock_of<MeasureColumn>>),
          field("quantity", "as of measures", of<quantity_of<MeasureColumn>>),
          field("role", "as of measures",
                [](const MeasureColumn& column) { return name_of(number_role_of(column)); }),
          field("statistic", "as of measures",
                [](const MeasureColumn& column) { return name_of(statistic_of(column)); }),
          field("additive", "as of measures", of<is_additive<MeasureColumn>>)));
}

Table span_numbers() {
  return in_part(Part::of_spans, table("span_numbers", "a number of a span; rows where it has one",
                                       RowsOfSpans{}, field("span", "spans.id", Several<RowOf>{}),
                                       field("column_id", "span_columns.id", Several<RowOf>{}),
                                       field("value", "the number", Several<std::int64_t>{})));
}

// What is said of it --------------------------------------------------------------------------

// What a measure is about, where that has a name.
std::optional<std::string_view> subject_name(const Source& source, Row row) {
  const Profile& profile = source.profile;
  const Measure& measure = profile.measures[row];
  const std::uint32_t id = measure.subject_id;
  if (measure.subject == Measure::Subject::unit && id < profile.units.size()) {
    return source.paths()[StringId(index_of(source.path_of(id)))];
  }
  if (measure.subject == Measure::Subject::op && id < profile.ops.size()) {
    return source.text(profile.ops[id].name);
  }
  if (measure.subject == Measure::Subject::phase && id < profile.phases.size()) {
    return source.text(profile.phases[id].name);
  }
  return std::nullopt;
}

Table measures() {
  return table(
      "measures", "a number about the profile, a unit, an op, a span or a phase",
      rows_in<&Profile::measures>, field("subject", "what it is about", of<&Measure::subject>),
      field("subject_id", "id in the table of its subject", of<&Measure::subject_id>),
      field("inference", "which inference; NULL: all of them",
            [](const Measure& measure) { return Id{measure.instance}; }),
      field("name", "what is counted: \"ddr read bytes\"", of<&Measure::what>),
      field("kind", "what sort of number", of<&Measure::kind>),
      field("origin", "how it came about", of<&Measure::origin>),
      field("clock", "clocks.id of a time", of<clock_of<Measure>>),
      field("value", "the number", of<&Measure::value>),
      field("quantity", "what is counted", of<quantity_of<Measure>>),
      field("role", "which of the numbers that analyses ask for; NULL: none of them",
            of<number_role_of<Measure>>),
      field("statistic", "over many; NULL: the number itself", of<statistic_of<Measure>>),
      field("additive", "1: numbers of ops and spans may be added up", of<is_additive<Measure>>),
      held_by(HeldBy::names,
              field("subject_name", "path of its unit, name of its op or phase", of<subject_name>)),
      held_by(HeldBy::names,
              field("clock_name", "clocks.name of its clock", [](const Source& s, Row row) {
                const Id clock = clock_of(s.profile.measures[row]);
                return clock.row < s.profile.clocks.size()
                           ? std::optional(s.profile.clocks[clock.row].name)
                           : std::nullopt;
              })));
}

Table edges() {
  return table("edges", "a dependency between ops", rows_in<&Profile::edges>,
               field("from_op", "ops.id of the producer", of<&Edge::from>),
               field("to_op", "ops.id of the consumer", of<&Edge::to>),
               field("kind", "what it is; reuse: only memory is reused", of<&Edge::kind>));
}

Table flows() {
  return table("flows", "an arrow between two spans", rows_in<&Profile::flows>,
               field("from_span", "spans.id", of<&Flow::from>),
               field("to_span", "spans.id", of<&Flow::to>),
               field("kind", "what it is; flow: the trace does not say", of<&Flow::kind>),
               field("name", "as the trace has it", known<&Flow::name>),
               field("category", "as the trace has it", known<&Flow::category>));
}

Table counter_series() {
  return table(
      "counter_series", "what is sampled",
      [](const Source& s) -> const auto& { return s.profile.counters.series; },
      field("id", "its number", RowNumber{}),
      field("unit", "units.id; NULL: of the whole profile", of<&CounterSeries::unit>),
      field("name", "\"VTCM alloc\"", of<&CounterSeries::name>),
      field("part", "of a counter with several values, the value's own name",
            known<&CounterSeries::part>),
      field("quantity", "what its values count; NULL: the trace is silent",
            known<&CounterSeries::quantity>),
      field("role", "as of measures",
            [](const CounterSeries& series) { return name_of(known_role(series.role)); }));
}

Table counter_samples() {
  return table(
      "counter_samples", "one sample of a series",
      [](const Source& s) { return s.profile.counters.size(); },
      field("series", "counter_series.id",
            [](const Source& s, Row row) { return RowOf{s.profile.counters.of[row]}; }),
      field("time", FieldUnit::ticks, "when, by the base clock",
            [](const Source& s, Row row) { return s.profile.counters.time[row]; }),
      field("value", "holds until the next sample",
            [](const Source& s, Row row) { return s.profile.counters.value[row]; }),
      held_by(HeldBy::names, field("series_name", "counter_series.name of its series",
                                   [](const Source& s, Row row) {
                                     const Counters& counters = s.profile.counters;
                                     const std::uint32_t series = counters.of[row];
                                     return series < counters.series.size()
                                                ? std::optional(counters.series[series].name)
                                                : std::nullopt;
                                   })));
}

Table phases() {
  return table(
      "phases", "a named interval of the run", rows_in<&Profile::phases>,
      field("id", "its number", RowNumber{}), field("name", "\"Graph Execute\"", of<&Phase::name>),
      field("inference", "which inference, from 0",
            [](const Phase& phase) { return Id{phase.instance}; }),
      field("unit", "units.id", of<&Phase::unit>),
      field("start", FieldUnit::ticks, "when it begins, by the base clock", of<&Phase::start>),
      field("duration", FieldUnit::ticks, "how long it takes, by the base clock",
            of<&Phase::duration>),
      field("microseconds", FieldUnit::microseconds, "how long it takes, by a clock of known rate",
            [](const Phase& phase) {
              return phase.microseconds >= 0 ? std::optional(phase.microseconds) : std::nullopt;
            }),
      field("parent", "phases.id of what it is part of; -1: of none; NULL: only their times tell",
            of<parent_number>));
}

Table tensors() {
  return table("tensors", "data between ops", rows_in<&Profile::tensors>,
               field("id", "its number", RowNumber{}),
               field("name", "as the file has it", of<&Tensor::name>),
               field("type", "element type", known<&Tensor::type>),
               field("shape", "as the file has it", known<&Tensor::shape>),
               field("memory", "TCM, DDR", known<&Tensor::memory>),
               field("bytes", FieldUnit::bytes, "size", of<&Tensor::size>),
               field("is_constant", "1: a constant", of<&Tensor::is_constant>),
               field("is_shape", "1: extents that ops refer to, no data", of<&Tensor::is_shape>),
               field("producer_op", "ops.id", of<&Tensor::producer>),
               field("vendor_id", "the number that the vendor's files know it by; 0: none",
                     of<&Tensor::id>));
}

Table tensor_uses() {
  return table("tensor_uses", "an op that reads a tensor", rows_in<&Profile::tensor_uses>,
               field("tensor", "tensors.id", [](const TensorUse& use) { return Id{use.tensor}; }),
               field("consumer_op", "ops.id", of<&TensorUse::consumer>));
}

Table checks() {
  return table("checks", "an identity that the files must obey, tried", rows_in<&Profile::checks>,
               field("name", "the identity", of<&Check::name>),
               field("outcome", "of the trial", of<&Check::outcome>),
               field("detail", "its numbers, or what is missing", known<&Check::detail>));
}

Table notes() {
  return table("notes", "what the reader could not take, or repaired", rows_in<&Profile::notes>,
               field("severity", "how bad it is", of<&Note::severity>),
               field("file", "as it was named",
                     [](const Source& s, Row row) {
                       const std::string& file = s.profile.notes[row].file;
                       return file.empty() ? std::nullopt : std::optional(s.in_utf8(file));
                     }),
               field("offset", FieldUnit::bytes, "where in the file it begins", of<&Note::offset>),
               field("count", "records concerned", of<&Note::count>),
               field("message", "a sentence", [](const Source& s, Row row) {
                 return s.in_utf8(s.profile.notes[row].message);
               }));
}

}  // namespace

const std::vector<Field>& facts() {
  static const Table of_one_row = table(
      "facts", "", [](const Source& s) { return std::span(&s.profile.provenance, 1); },
      field("schema", "", [](const Provenance&) { return version; }),
      field("format", "", known<&Provenance::format>),
      field("version", "", known<&Provenance::version>),
      field("device", "", known<&Provenance::device>),
      field("graph", "", known<&Provenance::graph>),
      field("instrumentation", "", known<&Provenance::instrumentation>),
      field("inferences", "",
            [](const Provenance& from) {
              return from.inferences > 0 ? std::optional(from.inferences) : std::nullopt;
            }),
      field("temperature", "", of<&Provenance::temperature>));
  return of_one_row.fields;
}

const std::vector<Table>& tables() {
  static const std::vector<Table> all{
      spans(),         ops(),          edges(),    tensors(), tensor_uses(),    profile(),
      files(),         clocks(),       units(),    phases(),  checks(),         notes(),
      argument_keys(), span_columns(), measures(), flows(),   counter_series(), counter_samples(),
      arguments(),     span_numbers()};
  return all;
}

const Table& table_named(std::string_view name) {
  return *std::ranges::find(tables(), name, &Table::name);
}

}  // namespace npuscope::schema
