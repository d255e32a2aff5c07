#include <fmt/format.h>
#include <simdjson.h>
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "base/parallel.hpp"
#include "formats/chrome/events.hpp"
#include "formats/chrome/profile/flows.hpp"
#include "formats/chrome/profile/lanes.hpp"
#include "formats/chrome/profile/mark_rows.hpp"
#include "npuscope/profile/filter.hpp"
#include "npuscope/profile/profile.hpp"
#include "profile/names.hpp"
#include "profile/own_traces.hpp"

namespace npuscope::chrome {
namespace {

// What `npuscope convert` wrote of a profile beside its events, so that opening the file again does
// not take it for another's: whose times they are, and which slices were phases.

bool is_own_export(const Events& events);

// Clock, device, graph and the like from `other_data`, the member of that name. A clock without a
// known rate stays one: its ticks were written as nanoseconds and are read as they were.
void restore_provenance(std::string_view other_data, Profile& profile);

// What a slice is, from the argument that says so: waiting is no work.
void restore_kinds_and_inferences(Profile& profile);

// Slices of the process "phases" become phases.
void restore_phases(Profile& profile);

void restore_clock(const simdjson::dom::element& head, Profile& profile) {
  Clock& clock = profile.clocks[index_of(profile.base_clock)];
  std::string_view name;
  if (head["clock"].get(name) == simdjson::SUCCESS) clock.name = profile.strings.intern(name);
  if (head["time"].get(name) != simdjson::SUCCESS) return;
  clock.kind = ClockKind::unit_cycles;
  clock.rate = Hertz{0};
  profile.notes.push_back({Severity::info, profile.provenance.files.front(), 0,
                           "written by npuscope from a clock of unknown rate: times are its ticks, "
                           "not nanoseconds",
                           1});
}

// Names of what the slice of a phase says.
struct PhaseKeys {
  explicit PhaseKeys(StringPool& strings)
      : inference(strings.intern("inference")),
        microseconds(strings.intern("microseconds")),
        number(strings.intern("phase")),
        parent(strings.intern("parent")) {}
  StringId inference, microseconds, number, parent;
};

// The phase that is written as such a slice; none of a slice that only shares its category.
std::optional<NumberedPhase> phase_of(const Profile& profile, std::size_t row,
                                      const PhaseKeys& keys) {
  const Spans& spans = profile.spans;
  if (spans.arguments.empty()) return std::nullopt;
  const auto integer = [&](StringId name) -> std::optional<std::int64_t> {
    const auto value = spans.arguments.find(row, name);
    if (!value || value->key.type != ArgumentType::integer) return std::nullopt;
    return value->integer();
  };
  const auto inference = integer(keys.inference);
  if (!inference) return std::nullopt;
  NumberedPhase told;
  told.phase.name = profile.ops[index_of(spans.op[row])].name;
  told.phase.instance = std::uint32_t(*inference);
  told.phase.start = spans.start[row];
  told.phase.duration = spans.duration[row];
  if (const auto length = spans.arguments.find(row, keys.microseconds)) {
    told.phase.microseconds = length->as_number().value_or(-1);
  }
  told.number = integer(keys.number).value_or(told.number);
  if (const auto parent = integer(keys.parent)) {
    told.parent = *parent;
    told.phase.parent = outermost_phase;
  }
  return told;
}

// Of an argument {"span":"sync","inference":3, …}; neither of another's.
struct ToldOfSpan {
  std::optional<SpanKind> kind;
  std::uint32_t inference = every_instance;
};

ToldOfSpan told_in(std::string_view json) {
  constexpr std::string_view begin = R"({"span":")", then = R"(","inference":)";

  if (!json.starts_with(begin)) return {};
  json.remove_prefix(begin.size());
  ToldOfSpan told;
  const std::size_t end = std::min(json.find('"'), json.size());
  told.kind = value_named<SpanKind>(json.substr(0, end));
  json.remove_prefix(end);
  if (!json.starts_with(then)) return told;
  json.remove_prefix(then.size());
  told.inference = take_number<std::uint32_t>(json).value_or(every_instance);
  return told;
}

void restore_kinds_and_inferences(Profile& profile) {
  Spans& spans = profile.spans;

  if (spans.arguments.empty()) return;
  const StringId npuscope = profile.strings.intern("npuscope");
  std::set<std::uint32_t> inferences;

  for (std::size_t row = 0; row < spans.size(); ++row) {
    const auto argument = spans.arguments.find(row, npuscope);
    if (!argument || argument->key.type != ArgumentType::json) continue;
    const ToldOfSpan told = told_in(profile.text(argument->text()));
    if (told.kind && spans.kind[row] == SpanKind::slice) spans.kind[row] = *told.kind;
    if (told.inference == every_instance) continue;
    if (spans.instance.empty()) spans.instance.assign(spans.size(), every_instance);
    if (spans.instance.size() == spans.size()) spans.instance[row] = told.inference;
    inferences.insert(told.inference);
  }
  if (!inferences.empty()) profile.provenance.inferences = std::uint32_t(inferences.size());
}

bool is_own_export(const Events& events) {
  return events.field("otherData").starts_with(R"({"writer":"npuscope")");
}

void restore_provenance(std::string_view other_data, Profile& profile) {
  simdjson::dom::parser parser;

  simdjson::dom::element head;
  if (parser.parse(other_data.data(), other_data.size()).get(head)) return;

  const std::pair<const char*, std::string*> facts[] = {
      {"version", &profile.provenance.version},
      {"device", &profile.provenance.device},
      {"graph", &profile.provenance.graph},
      {"instrumentation", &profile.provenance.instrumentation}};

  for (const auto& [name, into] : facts) {
    std::string_view text;
    if (head[name].get(text) == simdjson::SUCCESS) *into = text;
  }
  std::string_view times;
  if (head["times"].get(times) == simdjson::SUCCESS) {
    profile.provenance.times = value_named<Origin>(times).value_or(Origin::measured);
  }

  restore_clock(head, profile);
}

void restore_phases(Profile& profile) {
  const StringId process = profile.strings.intern("phases"), kind = profile.strings.intern("phase");

  const PhaseKeys keys(profile.strings);
  std::vector<bool> holds_phases(profile.units.size(), false);

  for (std::size_t unit = 0; unit < profile.units.size(); ++unit) {
    const UnitId parent = profile.units[unit].parent;
    if (parent == UnitId::none) continue;
    holds_phases[unit] =
        holds_phases[index_of(parent)] || profile.units[index_of(parent)].name == process;
  }

  std::vector<NumberedPhase> phases;
  const Spans& spans = profile.spans;

  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (!holds_phases[index_of(spans.unit[row])] || spans.op[row] == OpId::none) continue;
    if (profile.ops[index_of(spans.op[row])].kind != kind) return;  // another's process
    auto phase = phase_of(profile, row, keys);
    if (!phase) return;
    phases.push_back(std::move(*phase));
  }

  if (phases.empty()) return;
  Filter others;
  others.keeps_unit = [&](const Profile&, UnitId unit) { return !holds_phases[index_of(unit)]; };
  Profile rest = filtered(profile, others);
  rest.notes = std::move(profile.notes);
  profile = std::move(rest);
  add_phases(std::move(phases), profile);
}

void add_clock(Hertz rate, Profile& profile) {
  // Of thousandths of the format's microseconds.
  profile.base_clock = profile.add_clock("trace", ClockKind::wall, rate, true);
}

// One after another: they are numbered as they come.
void add_ops(const Slices& slices, OpTable& ops, Profile& profile) {
  Column<OpId>& op = profile.spans.op;
  op.resize(slices.size());
  for (std::size_t i = 0; i < op.size(); ++i) {
    op[i] = ops.op(slices.name[i], slices.category.empty() ? StringId::empty : slices.category[i]);
  }
}

// Columns move where the profile has the same ones.
void add_slices(Slices&& slices, const Lanes& lanes, const UnitTable& units, Profile& profile) {
  Spans& spans = profile.spans;
  Column<StringId>().swap(slices.name);
  Column<StringId>().swap(slices.category);
  spans.unit.resize(slices.size());
  spans.kind.resize(slices.size());
  const std::vector<RowRange> parts = ranges_of(slices.size());
  parallel_for(parts.size(), [&](std::size_t part) {
    for (std::size_t i = parts[part].first; i < parts[part].last; ++i) {
      spans.unit[i] = units.lane(slices.thread[i], lanes.lane.empty() ? 0 : lanes.lane[i]);
      spans.kind[i] = SpanKind::slice;
    }
  });
  Column<std::uint32_t>().swap(slices.thread);
  spans.start = std::move(slices.start);
  spans.duration = std::move(slices.duration);
  spans.arguments = std::move(slices.arguments);
}

void note(Profile& profile, const std::string& file, std::uint64_t count, const char* message) {
  if (count > 0) profile.notes.push_back({Severity::warning, file, 0, message, count});
}

// What is in the file beside its events. A generic profile has no place for it.
void note_fields(const Events& events, Profile& profile) {
  std::string names;
  std::uint64_t count = 0;
  for (const auto& [name, json] : events.fields) {
    if (name == "displayTimeUnit" || (name == "otherData" && is_own_export(events))) continue;
    ++count;
    if (count <= 8) names.append(names.empty() ? "" : ", ").append(name);
  }
  if (count == 0) return;
  if (count > 8) names += ", ...";
  profile.notes.push_back({Severity::info, events.file, 0,
                           "top-level members beside the events, not in the profile: " + names,
                           count});
}

}  // namespace

Profile make_profile(Events&& events) {
  Profile profile;
  profile.strings = std::move(events.strings);
  profile.notes = std::move(events.notes);
  profile.provenance.format = "Chrome trace";
  profile.provenance.files = {events.file};
  const bool is_finer = events.rate > Hertz(1'000'000'000);  // picoseconds
  add_clock(events.rate, profile);
  const std::size_t threads = events.threads.size();
  std::vector<std::uint32_t> order;
  Lanes lanes;
  std::int64_t& resolution = profile.clocks.back().resolution;
  OpTable ops(profile);
  // Neither knows of what the other is about.
  parallel_for(2, [&](std::size_t which) {
    if (which == 0) return add_ops(events.slices, ops, profile);
    order = nesting_order(events.slices, threads);
    resolution = resolution_of(events.slices);
    lanes = assign_lanes(events.slices, threads, order, resolution);
  });
  JoinedFlows flows = connect_flows(events.slices, events.marks, threads, order);
  const JoinedFlows bound = connect_bound_flows(events.slices, profile.strings);
  const UnitTable units = make_units(events, lanes.lane_count, profile);
  add_slices(std::move(events.slices), lanes, units, profile);
  ShapeTable shapes;
  for (const ArgumentShape& shape : profile.spans.arguments.shapes) shapes.intern(shape);
  add_mark_rows(events, units, ops, shapes, profile);
  profile.spans.arguments.shapes = shapes.take_shapes();
  profile.flows = std::move(flows.flows);
  profile.flows.insert(profile.flows.end(), bound.flows.begin(), bound.flows.end());
  note(
      profile, events.file, lanes.moved,
      "slices that overlap another of their thread without nesting, or lie inside such a slice: in "
      "lanes beside it");
  if (lanes.outlasting > 0) {
    profile.notes.push_back(
        {Severity::info, events.file, 0,
         fmt::format("slices that end up to {} after the slice that they began in, the resolution "
                     "of the file's times: nested in it",
                     resolution > 1 ? (is_finer ? "1 ns" : "1 us") : (is_finer ? "1 ps" : "1 ns")),
         lanes.outlasting});
  }
  if (lanes.early > 0) {
    profile.notes.push_back(
        {Severity::info, events.file, 0,
         "slices that begin shortly before the one before them ended: after it, "
         "not beside it",
         lanes.early});
  }
  note(profile, events.file, flows.unbound, "ends of flows where no slice is, left out");
  note(profile, events.file, flows.unpaired, "flow events without a beginning or an end, left out");
  note(profile, events.file, bound.unpaired,
       "slices with a bind_id that no other shares in the direction they name, without an arrow");
  note_fields(events, profile);
  if (is_own_export(events)) {
    restore_provenance(events.field("otherData"), profile);
    restore_kinds_and_inferences(profile);
    restore_phases(profile);
  }
  return profile;
}

}  // namespace npuscope::chrome
