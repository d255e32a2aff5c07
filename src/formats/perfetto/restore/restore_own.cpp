#include "formats/perfetto/restore/restore.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/parallel.hpp"
#include "formats/perfetto/known_words.hpp"
#include "formats/perfetto/trace_time.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/profile.hpp"
#include "profile/own_traces.hpp"

namespace npuscope::perfetto {
namespace {

// Spans that turn out to be something else leave the table.

constexpr std::uint32_t removed = std::numeric_limits<std::uint32_t>::max();

// What row each of the old ones becomes.
std::vector<std::uint32_t> numbered(const std::vector<bool>& gone) {
  std::vector<std::uint32_t> number(gone.size(), removed);
  std::uint32_t next = 0;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    if (!gone[row]) number[row] = next++;
  }
  return number;
}

// Columns that the table lacks are empty.
template <class Value>
void close_gaps(Value& column, const std::vector<bool>& gone) {
  if (column.size() != gone.size()) return;
  std::size_t left = 0;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    if (!gone[row]) column[left++] = column[row];
  }
  column.resize(left);
}

void close_gaps(Arguments& arguments, const std::vector<bool>& gone) {
  if (arguments.size() != gone.size()) return;
  Arguments left;
  std::vector<std::uint64_t> values;
  for (std::size_t row = 0; row < gone.size(); ++row) {
    if (gone[row]) continue;
    arguments.read(row, values);
    left.add(left.size(), arguments.shape(row), values);
  }
  left.shapes = std::move(arguments.shapes);
  arguments = std::move(left);
}

void remove_relations(Profile& profile, const std::vector<std::uint32_t>& number) {
  const auto new_row = [&](std::uint32_t row) {
    return row < number.size() ? number[row] : removed;
  };
  std::erase_if(profile.flows, [&](const Flow& flow) {
    return new_row(index_of(flow.from)) == removed || new_row(index_of(flow.to)) == removed;
  });
  for (Flow& flow : profile.flows) {
    flow.from = SpanId(number[index_of(flow.from)]);
    flow.to = SpanId(number[index_of(flow.to)]);
  }
  const auto of_span = [](const Measure& measure) {
    return measure.subject == Measure::Subject::span;
  };
  std::erase_if(profile.measures, [&](const Measure& measure) {
    return of_span(measure) && new_row(measure.subject_id) == removed;
  });
  for (Measure& measure : profile.measures) {
    if (of_span(measure)) measure.subject_id = number[measure.subject_id];
  }
}

void remove_unused_ops(Profile& profile) {
  std::vector<bool> unused(profile.ops.size(), true);
  for (const OpId op : profile.spans.op) {
    if (index_of(op) < unused.size()) unused[index_of(op)] = false;
  }
  const auto number = numbered(unused);
  close_gaps(profile.ops, unused);
  for (OpId& op : profile.spans.op) {
    if (index_of(op) < number.size()) op = OpId(number[index_of(op)]);
  }
}

// With their flows and measures, and with the ops that no other span is of. `gone`: by row.
void remove_spans(Profile& profile, const std::vector<bool>& gone) {
  remove_relations(profile, numbered(gone));
  Spans& spans = profile.spans;
  close_gaps(spans.processor_cycles, gone);
  close_gaps(spans.instance, gone);
  close_gaps(spans.arguments, gone);
  for (MeasureColumn& measure : spans.measures) close_gaps(measure.values, gone);
  close_gaps(spans.op, gone);
  close_gaps(spans.kind, gone);
  close_gaps(spans.start, gone);
  close_gaps(spans.duration, gone);
  close_gaps(spans.unit, gone);
  remove_unused_ops(profile);
}

class PhaseReader {
 public:
  PhaseReader(const Profile& profile, const std::vector<NumberMeaning>& numbers)
      : profile_(profile) {
    for (const NumberMeaning& number : numbers) {
      if (!number.is_column) meanings_.emplace(number.name, number);
    }
  }

  NumberedPhase read(std::size_t row) const;

 private:
  void take(const Argument& argument, NumberedPhase& slice) const;

  const Profile& profile_;
  std::unordered_map<StringId, NumberMeaning> meanings_;
};

NumberedPhase PhaseReader::read(std::size_t row) const {
  const Spans& spans = profile_.spans;
  NumberedPhase slice;
  if (index_of(spans.op[row]) < profile_.ops.size()) {
    slice.phase.name = profile_.ops[index_of(spans.op[row])].name;
  }
  slice.phase.start = spans.start[row];
  slice.phase.duration = spans.duration[row];
  for (std::size_t i = 0; i < spans.arguments.count(row); ++i) {
    take(spans.arguments.at(row, i), slice);
  }
  return slice;
}

void PhaseReader::take(const Argument& argument, NumberedPhase& slice) const {
  const std::string_view name = profile_.text(argument.key.name);
  Phase& phase = slice.phase;
  if (argument.key.type == ArgumentType::integer) {
    const std::int64_t value = argument.integer();
    if (name == text_of(Word::inference)) phase.instance = std::uint32_t(value);
    if (name == text_of(Word::phase)) slice.number = value;
    if (name == text_of(Word::unit)) phase.unit = UnitId(std::uint32_t(value));
    if (name == text_of(Word::parent)) {
      slice.parent = value;
      phase.parent = outermost_phase;
    }
  } else if (argument.key.type == ArgumentType::number) {
    if (name == text_of(Word::microseconds)) phase.microseconds = argument.number();
    const auto meaning = meanings_.find(argument.key.name);
    if (meaning == meanings_.end()) return;
    const NumberMeaning& is = meaning->second;
    slice.measures.push_back({Measure::Subject::phase, 0, is.name, is.kind, is.origin, is.meaning,
                              is.clock, argument.number(), every_instance, is.event});
  }
}

}  // namespace

std::optional<OwnTrace> OwnTrace::recognise(std::string_view about, Profile& profile,
                                            std::span<const StringId> descriptions) {
  OwnTrace own;
  for (std::size_t unit = 0; unit < profile.units.size(); ++unit) {
    const auto place =
        unit < descriptions.size() ? place_in(profile.text(descriptions[unit])) : std::nullopt;
    if (!place) return std::nullopt;
    own.places_.push_back(*place);
  }
  auto parsed = parse_about(about, profile.strings);
  if (!parsed) return std::nullopt;
  own.about_ = std::move(*parsed);
  for (const TrackPlace& place : own.places_) {
    const bool is_unit = place.kind == TrackPlace::Kind::unit;
    if (is_unit && place.unit >= own.about_.units.size()) return std::nullopt;
  }
  return own;
}

void OwnTrace::restore_units(Profile& profile) const {
  const auto unit_of = [&](UnitId unit) {
    if (index_of(unit) >= places_.size()) return UnitId::none;
    const TrackPlace& place = places_[index_of(unit)];
    return place.kind == TrackPlace::Kind::unit ? UnitId(place.unit) : UnitId::none;
  };
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    profile.spans.unit[row] = unit_of(profile.spans.unit[row]);
  }
  for (CounterSeries& series : profile.counters.series) series.unit = unit_of(series.unit);
  profile.units = about_.units;
}

void OwnTrace::restore_phases(Profile& profile) const {
  const auto has_phases = [](const TrackPlace& place) {
    return place.kind == TrackPlace::Kind::phases;
  };
  if (std::ranges::none_of(places_, has_phases)) return;
  Spans& spans = profile.spans;
  std::vector<bool> is_phase(spans.size(), false);
  std::vector<NumberedPhase> phases;
  const PhaseReader reader(profile, about_.numbers);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t unit = index_of(spans.unit[row]);
    if (unit >= places_.size() || !has_phases(places_[unit])) continue;
    is_phase[row] = true;
    phases.push_back(reader.read(row));
  }
  if (phases.empty()) return;
  remove_spans(profile, is_phase);
  add_phases(std::move(phases), profile);
}

void OwnTrace::restore_times(Profile& profile) const {
  const std::string format = profile.provenance.format;
  std::vector<std::string> files = std::move(profile.provenance.files);
  profile.provenance = about_.provenance;
  profile.provenance.files = std::move(files);
  profile.provenance.format = format;
  if (about_.clocks.empty()) return;
  profile.clocks = about_.clocks;
  profile.base_clock = about_.base_clock;
  TraceTime time(profile);
  time.shift_by(about_.moved_ns);
  const auto restore = [&](std::int64_t& start, std::int64_t& duration) {
    const std::int64_t end = time.ticks_at(saturating_add(start, duration));
    start = time.ticks_at(start);
    duration = saturating_subtract(end, start);
  };
  if (!time.is_identity()) {
    Spans& spans = profile.spans;
    const std::vector<RowRange> parts = ranges_of(spans.size());
    parallel_for(parts.size(), [&](std::size_t part) {
      for (std::size_t row = parts[part].first; row < parts[part].last; ++row) {
        restore(spans.start[row], spans.duration[row]);
      }
    });
  }
  for (Phase& phase : profile.phases) restore(phase.start, phase.duration);
  for (std::int64_t& at : profile.counters.time) at = time.ticks_at(at);
  const auto note = [&](const char* message) {
    profile.notes.push_back({Severity::info, profile.provenance.files.front(), 0, message, 1});
  };
  if (!time.rate_is_known()) {
    note("written by npuscope from a clock of unknown rate: times are its ticks, not nanoseconds");
  } else if (time.is_finer_than_nanoseconds()) {
    note(
        "written by npuscope from a clock that is finer than nanoseconds: times may be off by as "
        "many of its ticks as a nanosecond has");
  }
}

}  // namespace npuscope::perfetto
