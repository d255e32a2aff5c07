// The schema: what the tables of a profile are called outside of this program, column by column.
//
// A column stands here once. CSV, JSON, SQLite, the tables of `npuscope query`, its --schema and
// docs/formats/exports.md are made of it, and a Perfetto trace of ours says clocks, units and ops
// by it and is read back by it:
//
//   spans     unit         INTEGER          units.id
//             kind         TEXT             what it is (op, sync, barrier, …)
//             start        INTEGER  ticks   when it begins, by the base clock
//             unit_path    TEXT             units.path of its unit          (CSV and query only)
//
// To add a column, add its field; `./dev docs` writes the documentation. What takes an analysis to
// compute (own times, roles, traffic) is declared the same way in query/derived.hpp.
#pragma once

#include "base/text.hpp"
#include "npuscope/profile/unit_path.hpp"
#include "profile/names.hpp"
#include "profile/schema_table.hpp"

namespace npuscope::schema {

// Counts changes after which a program that reads exports must be told.
inline constexpr int version = 2;

// Facts about the whole profile: rows of the table `profile`, members of an object in JSON
// ---------

template <class Get>
struct Fact {
  const char* name;
  Get get;
};
template <class Get>
Fact(const char*, Get) -> Fact<Get>;

constexpr auto facts() {
  return std::tuple{
      Fact{"schema", [](const Profile&) { return version; }},
      Fact{"format", [](const Profile& p) { return known(&Provenance::format)(p.provenance); }},
      Fact{"version", [](const Profile& p) { return known(&Provenance::version)(p.provenance); }},
      Fact{"device", [](const Profile& p) { return known(&Provenance::device)(p.provenance); }},
      Fact{"graph", [](const Profile& p) { return known(&Provenance::graph)(p.provenance); }},
      Fact{"instrumentation",
           [](const Profile& p) { return known(&Provenance::instrumentation)(p.provenance); }},
      Fact{"inferences",
           [](const Profile& p) {
             const std::uint32_t count = p.provenance.inferences;
             return count > 0 ? std::optional(count) : std::nullopt;
           }},
      Fact{"temperature", [](const Profile& p) { return p.provenance.temperature; }},
  };
}

// The fact of a row as text, and what it is called; defined in schema.cpp.
std::string_view fact_name(Row row);
std::optional<std::string> fact_text(const Profile& profile, Row row);

constexpr auto profile() {
  return in_part(
      Part::about,
      table(
          "profile", "facts about the whole profile",
          [](const Source&) { return std::tuple_size_v<decltype(facts())>; },
          field("name",
                "schema, format, version, device, graph, instrumentation, inferences, temperature",
                [](const Source&, Row row) { return fact_name(row); }),
          field("value", "its value",
                [](const Source& s, Row row) { return fact_text(s.profile, row); })));
}

constexpr auto files() {
  return in_part(Part::about, table(
                                  "files", "a file that the profile was read from",
                                  [](const Source& s) { return s.profile.provenance.files.size(); },
                                  field("name", "as it was named", [](const Source& s, Row row) {
                                    return valid_utf8(s.profile.provenance.files[row]);
                                  })));
}

// What ran where ------------------------------------------------------------------------------

struct RateOfClock {
  std::optional<double> operator()(const Clock& clock) const {
    return clock.rate.value > 0 ? std::optional(clock.rate.value) : std::nullopt;
  }
  void set(Clock& clock, const std::optional<double>& hertz) const {
    clock.rate = Hertz{hertz && *hertz > 0 ? *hertz : 0};
  }
};
struct OffsetOfClock {
  std::optional<std::int64_t> operator()(const Clock& clock) const {
    return clock.offset_known ? std::optional(clock.offset) : std::nullopt;
  }
  void set(Clock& clock, const std::optional<std::int64_t>& offset) const {
    clock.offset_known = offset.has_value();
    clock.offset = offset.value_or(0);
  }
};

constexpr auto clocks() {
  return table(
      "clocks", "a time base", rows_in(&Profile::clocks), field("id", "its number", RowNumber{}),
      field("name", "as the file has it", &Clock::name),
      field("kind", "what it counts", &Clock::kind),
      field("hertz", FieldUnit::hertz, "its rate", RateOfClock{}),
      field("offset", FieldUnit::ticks, "of the base clock, at which it read 0", OffsetOfClock{}),
      field("is_base", "1: the clock of spans, counters and phases",
            [](const Source& s, Row row) { return row == index_of(s.profile.base_clock); }));
}

constexpr auto units() {
  return table("units", "a resource that executes one thing at a time", rows_in(&Profile::units),
               field("id", "its number", RowNumber{}),
               field("path", "its name within its parents': \"card 0 > core 3 > HVX 1\"",
                     [](const Source& s, Row row) { return s.path_of(row); }),
               field("name", "as the file has it", &Unit::name),
               field("engine", "what it is", &Unit::engine),
               field("device", "which device", &Unit::device),
               field("core", "which core of the device", &Unit::core),
               field("lane", "which thread of the core", &Unit::lane),
               field("parent", "units.id", &Unit::parent),
               field("process_id", "pid as the trace has it", known(&Unit::process_id)),
               field("thread_id", "tid as the trace has it", known(&Unit::thread_id)));
}

constexpr auto ops() {
  return table(
      "ops", "an operation of the compiled graph", rows_in(&Profile::ops),
      field("id", "its number", RowNumber{}), field("name", "path in the model graph", &Op::name),
      field("kind", "kernel; in a generic trace the category", known(&Op::kind)),
      field("node", "the model's operator that it is part of", known(&Op::node)),
      field("node_kind", "what that operator is", known(&Op::node_kind)),
      field("engine", "the hardware it uses, where the trace says so apart from its unit",
            &Op::engine),
      field("memory", "TCM, DDR", known(&Op::memory)),
      field("types", "distinct element types of its operands", known(&Op::types)),
      field("shape", "of its output", known(&Op::shape)),
      field("attributes", "as the file has them", known(&Op::attributes)),
      field("operands", "one a line", known(&Op::operands)),
      field("output_bytes", FieldUnit::bytes, "size of its output", &Op::output),
      field("core", "core that it is compiled for", &Op::core),
      field("thread_group", "thread group within the core", &Op::group),
      field("position", "place in the group's queue", &Op::position),
      field("vendor_id", "the number that the vendor's files know it by; 0: none", &Op::id),
      field("once_per_inference", "1: its spans in an inference are tiles of one execution",
            &Op::once_per_inference));
}

inline bool has_processor_cycles(const Profile& profile) {
  const Spans& spans = profile.spans;
  return spans.size() > 0 && spans.processor_cycles.size() == spans.size();
}
inline std::optional<std::int64_t> processor_cycles_of(const Source& s, Row row) {
  const Spans& spans = s.profile.spans;
  const bool is_known =
      spans.processor_cycles.size() == spans.size() && spans.processor_cycles[row] >= 0;
  return is_known ? std::optional(spans.processor_cycles[row]) : std::nullopt;
}

inline bool has_inferences(const Profile& profile) {
  const Spans& spans = profile.spans;
  return spans.size() > 0 && spans.instance.size() == spans.size();
}
inline Id inference_of(const Source& s, Row row) {
  const Spans& spans = s.profile.spans;
  return Id{spans.instance.size() == spans.size() ? spans.instance[row] : no_row};
}

inline std::optional<PathId> unit_path_of(const Source& s, Row row) {
  const std::uint32_t unit = index_of(s.profile.spans.unit[row]);
  return unit < s.profile.units.size() ? std::optional(s.path_of(unit)) : std::nullopt;
}
inline std::optional<Engine> unit_engine_of(const Source& s, Row row) {
  const Unit* unit = s.unit_of(row);
  return unit != nullptr ? std::optional(unit->engine) : std::nullopt;
}
inline Sum end_of(const Source& s, Row row) {
  return {s.profile.spans.start[row], s.profile.spans.duration[row]};
}

// Of the op of a span.
template <class Member>
constexpr auto of_op(Member member) {
  return [member](const Source& s, Row row) {
    const Op* op = s.op_of(row);
    return op != nullptr ? std::optional(to_cell(std::invoke(member, *op))) : std::nullopt;
  };
}
template <class Text>
constexpr auto of_op(Known<Op, Text> known) {
  return [known](const Source& s, Row row) {
    const Op* op = s.op_of(row);
    return op != nullptr ? known(*op) : std::nullopt;
  };
}

constexpr auto spans() {
  return table(
      "spans", "one execution of an op (or a wait) on one unit",
      [](const Source& s) { return s.profile.spans.size(); },
      field("id", "its number", RowNumber{}), field("unit", "units.id", InSpans{&Spans::unit}),
      field("op", "ops.id", InSpans{&Spans::op}),
      field("kind", "what it is", InSpans{&Spans::kind}),
      field("start", FieldUnit::ticks, "when it begins, by the base clock", InSpans{&Spans::start}),
      field("duration", FieldUnit::ticks, "how long it takes, by the base clock",
            InSpans{&Spans::duration}),
      only_where(has_processor_cycles, field("processor_cycles", FieldUnit::cycles,
                                             "of the unit's own clock", processor_cycles_of)),
      only_where(has_inferences, field("inference", "which inference, from 0", inference_of)),
      held_by(HeldBy::names, field("unit_path", "units.path of its unit", unit_path_of)),
      held_by(HeldBy::query, field("unit_engine", "units.engine of its unit", unit_engine_of)),
      held_by(HeldBy::names, field("op_name", "ops.name of its op", of_op(&Op::name))),
      held_by(HeldBy::names, field("op_kind", "ops.kind of its op", of_op(known(&Op::kind)))),
      held_by(HeldBy::names, field("node", "ops.node of its op", of_op(known(&Op::node)))),
      held_by(HeldBy::query, field("end", FieldUnit::ticks, "start + duration", end_of)));
}

constexpr auto argument_keys() {
  return in_part(Part::of_spans,
                 table(
                     "argument_keys", "what arguments of spans are called",
                     [](const Source& s) -> const auto& { return s.argument_keys(); },
                     field("id", "its number", RowNumber{}),
                     field("name", "as the trace has it", &ArgumentKey::name),
                     field("type", "of its values", &ArgumentKey::type)));
}

constexpr auto arguments() {
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

inline std::optional<NumberRole> known_role(NumberRole role) {
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

constexpr auto span_columns() {
  return in_part(
      Part::of_spans,
      table(
          "span_columns", "a number that (nearly) every span has",
          [](const Source& s) -> const auto& { return s.profile.spans.measures; },
          field("id", "its number", RowNumber{}),
          field("name", "what is counted: \"dominant path\"", &MeasureColumn::what),
          field("kind", "as of measures", &MeasureColumn::kind),
          field("origin", "as of measures", &MeasureColumn::origin),
          field("clock", "clocks.id of a time", clock_of<MeasureColumn>),
          field("quantity", "as of measures", quantity_of<MeasureColumn>),
          field("role", "as of measures",
                [](const MeasureColumn& column) { return name_of(number_role_of(column)); }),
          field("statistic", "as of measures",
                [](const MeasureColumn& column) { return name_of(statistic_of(column)); }),
          field("additive", "as of measures", is_additive<MeasureColumn>)));
}

constexpr auto span_numbers() {
  return in_part(Part::of_spans, table("span_numbers", "a number of a span; rows where it has one",
                                       RowsOfSpans{}, field("span", "spans.id", Several<RowOf>{}),
                                       field("column_id", "span_columns.id", Several<RowOf>{}),
                                       field("value", "the number", Several<std::int64_t>{})));
}

// What is said of it --------------------------------------------------------------------------

// What a measure is about, where that has a name.
std::optional<std::string_view> subject_name(const Source& source, Row measure);

constexpr auto measures() {
  return table(
      "measures", "a number about the profile, a unit, an op, a span or a phase",
      rows_in(&Profile::measures), field("subject", "what it is about", &Measure::subject),
      field("subject_id", "id in the table of its subject", &Measure::subject_id),
      field("inference", "which inference; NULL: all of them",
            [](const Measure& measure) { return Id{measure.instance}; }),
      field("name", "what is counted: \"ddr read bytes\"", &Measure::what),
      field("kind", "what sort of number", &Measure::kind),
      field("origin", "how it came about", &Measure::origin),
      field("clock", "clocks.id of a time", clock_of<Measure>),
      field("value", "the number", &Measure::value),
      field("quantity", "what is counted", quantity_of<Measure>),
      field("role", "which of the numbers that analyses ask for; NULL: none of them",
            number_role_of<Measure>),
      field("statistic", "over many; NULL: the number itself", statistic_of<Measure>),
      field("additive", "1: numbers of ops and spans may be added up", is_additive<Measure>),
      held_by(HeldBy::names,
              field("subject_name", "path of its unit, name of its op or phase", subject_name)),
      held_by(HeldBy::names,
              field("clock_name", "clocks.name of its clock", [](const Source& s, Row row) {
                const Id clock = clock_of(s.profile.measures[row]);
                return clock.row < s.profile.clocks.size()
                           ? std::optional(s.profile.clocks[clock.row].name)
                           : std::nullopt;
              })));
}

constexpr auto edges() {
  return table("edges", "a dependency between ops", rows_in(&Profile::edges),
               field("from_op", "ops.id of the producer", &Edge::from),
               field("to_op", "ops.id of the consumer", &Edge::to),
               field("kind", "what it is; reuse: only memory is reused", &Edge::kind));
}

constexpr auto flows() {
  return table("flows", "an arrow between two spans", rows_in(&Profile::flows),
               field("from_span", "spans.id", &Flow::from), field("to_span", "spans.id", &Flow::to),
               field("kind", "what it is; flow: the trace does not say", &Flow::kind),
               field("name", "as the trace has it", known(&Flow::name)),
               field("category", "as the trace has it", known(&Flow::category)));
}

constexpr auto counter_series() {
  return table(
      "counter_series", "what is sampled",
      [](const Source& s) -> const auto& { return s.profile.counters.series; },
      field("id", "its number", RowNumber{}),
      field("unit", "units.id; NULL: of the whole profile", &CounterSeries::unit),
      field("name", "\"VTCM alloc\"", &CounterSeries::name),
      field("part", "of a counter with several values, the value's own name",
            known(&CounterSeries::part)),
      field("quantity", "what its values count; NULL: the trace is silent",
            known(&CounterSeries::quantity)),
      field("role", "as of measures",
            [](const CounterSeries& series) { return name_of(known_role(series.role)); }));
}

constexpr auto counter_samples() {
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

constexpr auto phases() {
  return table(
      "phases", "a named interval of the run", rows_in(&Profile::phases),
      field("id", "its number", RowNumber{}), field("name", "\"Graph Execute\"", &Phase::name),
      field("inference", "which inference, from 0",
            [](const Phase& phase) { return Id{phase.instance}; }),
      field("unit", "units.id", &Phase::unit),
      field("start", FieldUnit::ticks, "when it begins, by the base clock", &Phase::start),
      field("duration", FieldUnit::ticks, "how long it takes, by the base clock", &Phase::duration),
      field("microseconds", FieldUnit::microseconds, "how long it takes, by a clock of known rate",
            [](const Phase& phase) {
              return phase.microseconds >= 0 ? std::optional(phase.microseconds) : std::nullopt;
            }),
      field("parent", "phases.id of what it is part of; -1: of none; NULL: only their times tell",
            parent_number));
}

constexpr auto tensors() {
  return table(
      "tensors", "data between ops", rows_in(&Profile::tensors),
      field("id", "its number", RowNumber{}), field("name", "as the file has it", &Tensor::name),
      field("type", "element type", known(&Tensor::type)),
      field("shape", "as the file has it", known(&Tensor::shape)),
      field("memory", "TCM, DDR", known(&Tensor::memory)),
      field("bytes", FieldUnit::bytes, "size", &Tensor::size),
      field("is_constant", "1: a constant", &Tensor::is_constant),
      field("is_shape", "1: extents that ops refer to, no data", &Tensor::is_shape),
      field("producer_op", "ops.id", &Tensor::producer),
      field("vendor_id", "the number that the vendor's files know it by; 0: none", &Tensor::id));
}

constexpr auto tensor_uses() {
  return table("tensor_uses", "an op that reads a tensor", rows_in(&Profile::tensor_uses),
               field("tensor", "tensors.id", [](const TensorUse& use) { return Id{use.tensor}; }),
               field("consumer_op", "ops.id", &TensorUse::consumer));
}

constexpr auto checks() {
  return table("checks", "an identity that the files must obey, tried", rows_in(&Profile::checks),
               field("name", "the identity", &Check::name),
               field("outcome", "of the trial", &Check::outcome),
               field("detail", "its numbers, or what is missing", known(&Check::detail)));
}

constexpr auto notes() {
  return table(
      "notes", "what the reader could not take, or repaired", rows_in(&Profile::notes),
      field("severity", "how bad it is", &Note::severity),
      field("file", "as it was named",
            [](const Note& note) {
              return note.file.empty() ? std::nullopt : std::optional(valid_utf8(note.file));
            }),
      field("offset", FieldUnit::bytes, "where in the file it begins", &Note::offset),
      field("count", "records concerned", &Note::count),
      field("message", "a sentence", [](const Note& note) { return valid_utf8(note.message); }));
}

// f(TableOf<…>{}) for each table, in the order of the documentation.
template <class Function>
constexpr void each_table(Function&& function) {
  function(TableOf<spans>{});
  function(TableOf<ops>{});
  function(TableOf<edges>{});
  function(TableOf<tensors>{});
  function(TableOf<tensor_uses>{});
  function(TableOf<profile>{});
  function(TableOf<files>{});
  function(TableOf<clocks>{});
  function(TableOf<units>{});
  function(TableOf<phases>{});
  function(TableOf<checks>{});
  function(TableOf<notes>{});
  function(TableOf<argument_keys>{});
  function(TableOf<span_columns>{});
  function(TableOf<measures>{});
  function(TableOf<flows>{});
  function(TableOf<counter_series>{});
  function(TableOf<counter_samples>{});
  function(TableOf<arguments>{});
  function(TableOf<span_numbers>{});
}

}  // namespace npuscope::schema
