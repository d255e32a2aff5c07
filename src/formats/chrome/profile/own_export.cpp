#include "formats/chrome/profile/own_export.hpp"

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npuscope/profile/filter.hpp"
#include "profile/names.hpp"
#include "profile/own_traces.hpp"

namespace npuscope::chrome {
namespace {

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

// Of an argument {"span":"sync", …}; none of another's.
std::optional<SpanKind> kind_in(std::string_view json) {
  constexpr std::string_view begin = R"({"span":")";
  if (!json.starts_with(begin)) return std::nullopt;
  json.remove_prefix(begin.size());
  return value_named<SpanKind>(json.substr(0, json.find('"')));
}

}  // namespace

void restore_kinds(Profile& profile) {
  Spans& spans = profile.spans;
  if (spans.arguments.empty()) return;
  const StringId npuscope = profile.strings.intern("npuscope");
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] != SpanKind::slice) continue;
    const auto argument = spans.arguments.find(row, npuscope);
    if (!argument || argument->key.type != ArgumentType::json) continue;
    if (const auto kind = kind_in(profile.text(argument->text()))) spans.kind[row] = *kind;
  }
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

}  // namespace npuscope::chrome
