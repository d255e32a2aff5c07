#include "formats/chrome/profile/mark_rows.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "base/numbers.hpp"
#include "formats/chrome/collect/pairing.hpp"
#include "profile/number_names.hpp"

namespace npuscope::chrome {
namespace {

constexpr std::string_view instant_phases = "iIRPOnTpvVc";
constexpr std::string_view begin_phases = "bSN";
constexpr std::string_view end_phases = "eFD";

bool is_one_of(char phase, std::string_view phases) {
  return phases.find(phase) != std::string_view::npos;
}

struct NewSpan {
  std::uint32_t mark = 0;
  std::uint32_t end_mark = unmatched;  // whose arguments it gets too
  SpanKind kind = SpanKind::instant;
  std::int64_t duration = 0;
};

struct AsyncCounts {
  std::uint64_t without_end = 0;
  std::uint64_t without_begin = 0;
};

// Begins and ends pair by category and id, each family of phases for itself.
std::vector<NewSpan> async_spans(const Marks& marks, AsyncCounts& counts) {
  std::vector<Boundary> boundaries;
  PairTable tracks;
  for (std::uint32_t i = 0; i < marks.size(); ++i) {
    const bool is_begin = is_one_of(marks.phase[i], begin_phases);
    if (!is_begin && !is_one_of(marks.phase[i], end_phases)) continue;
    const std::size_t family =
        is_begin ? begin_phases.find(marks.phase[i]) : end_phases.find(marks.phase[i]);
    const std::uint64_t track =
        tracks.intern(std::uint32_t(marks.category[i]), std::uint32_t(marks.id[i])) *
            begin_phases.size() +
        family;
    boundaries.push_back({track, marks.time[i], marks.name[i], i, !is_begin});
  }
  const std::vector<std::uint32_t> partner = pair_boundaries(boundaries);
  std::vector<NewSpan> spans;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    if (boundaries[i].is_end) {
      counts.without_begin += partner[i] == unmatched ? 1 : 0;
      continue;
    }
    NewSpan span{boundaries[i].row, unmatched, SpanKind::async, 0};
    if (partner[i] == unmatched) {
      ++counts.without_end;
    } else {
      span.end_mark = boundaries[partner[i]].row;
      span.duration = boundaries[partner[i]].time - boundaries[i].time;
    }
    spans.push_back(span);
  }
  return spans;
}

void add_spans(const std::vector<NewSpan>& added, const Events& events, const UnitTable& units,
               OpTable& ops, ShapeTable& shapes, Profile& profile) {
  const Marks& marks = events.marks;
  Spans& spans = profile.spans;
  const std::size_t first = spans.size();
  spans.unit.resize(first + added.size());
  spans.op.resize(first + added.size());
  spans.kind.resize(first + added.size());
  spans.start.resize(first + added.size());
  spans.duration.resize(first + added.size());
  std::vector<std::uint32_t> shape_of;
  for (const ArgumentShape& shape : marks.arguments.shapes)
    shape_of.push_back(shapes.intern(shape));
  ArgumentMerger merger(spans.arguments, shapes);
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::uint32_t mark = added[i].mark;
    spans.unit[first + i] = units.lane(marks.thread[mark], 0);
    spans.op[first + i] = ops.op(marks.name[mark], marks.category[mark]);
    spans.kind[first + i] = added[i].kind;
    spans.start[first + i] = marks.time[mark];
    spans.duration[first + i] = added[i].duration;
    merger.take(marks.arguments, mark, shape_of);
    if (added[i].end_mark != unmatched) {
      merger.take(marks.arguments, added[i].end_mark, shape_of);
    }
    merger.put(first + i);
  }
  spans.arguments.resize(spans.size());
}

std::optional<double> counter_value(const Argument& argument, const Profile& profile) {
  if (const auto number = argument.as_number()) return number;
  if (argument.key.type == ArgumentType::boolean) return argument.boolean() ? 1 : 0;
  if (argument.key.type != ArgumentType::text) return std::nullopt;
  const auto number = parse_number<double>(profile.text(argument.text()));
  return number && std::isfinite(*number) ? number : std::nullopt;
}

class CounterTable {
 public:
  explicit CounterTable(Profile& profile) : profile_(profile) {}

  std::uint32_t series(UnitId unit, StringId name, StringId id, StringId part) {
    const std::uint32_t named = names_.intern(index_of(unit), std::uint32_t(name));
    const std::uint32_t with_id = ids_.intern(named, std::uint32_t(id));
    const std::uint32_t series = parts_.intern(with_id, std::uint32_t(part));
    if (series == profile_.counters.series.size()) {
      const StringId full = full_name(name, id);
      profile_.counters.series.push_back(
          {unit, full, part, {}, role_of_counter(profile_.text(full))});
    }
    return series;
  }

 private:
  StringId full_name(StringId name, StringId id) {
    if (id == StringId::empty) return name;
    return profile_.strings.intern(fmt::format("{}[{}]", profile_.text(name), profile_.text(id)));
  }

  Profile& profile_;
  PairTable names_;
  PairTable ids_;
  PairTable parts_;
};

// The number of values that are not numbers.
std::uint64_t add_counters(const Events& events, const UnitTable& units, Profile& profile) {
  const Marks& marks = events.marks;
  CounterTable table(profile);
  std::uint64_t refused = 0;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks.phase[i] != 'C') continue;
    for (std::size_t place = 0; place < marks.arguments.count(i); ++place) {
      const Argument argument = marks.arguments.at(i, place);
      const auto value = counter_value(argument, profile);
      if (!value || !std::isfinite(*value)) {
        ++refused;
        continue;
      }
      profile.counters.of.push_back(table.series(units.process[marks.thread[i]], marks.name[i],
                                                 marks.id[i], argument.key.name));
      profile.counters.time.push_back(marks.time[i]);
      profile.counters.value.push_back(*value);
    }
  }
  return refused;
}

void note(Profile& profile, const Events& events, std::uint64_t count, const char* message) {
  if (count > 0) profile.notes.push_back({Severity::warning, events.file, 0, message, count});
}

}  // namespace

OpId OpTable::new_op(StringId name, StringId category) {
  const std::uint32_t op = pairs_.intern(std::uint32_t(name), std::uint32_t(category));
  if (op == profile_.ops.size()) {
    Op& made = profile_.ops.emplace_back();
    made.name = name;
    made.kind = category;
  }
  return OpId(op);
}

void add_mark_rows(const Events& events, const UnitTable& units, OpTable& ops, ShapeTable& shapes,
                   Profile& profile) {
  const Marks& marks = events.marks;
  AsyncCounts counts;
  std::vector<NewSpan> spans = async_spans(marks, counts);
  std::uint64_t contexts = 0;
  for (std::uint32_t i = 0; i < marks.size(); ++i) {
    if (is_one_of(marks.phase[i], instant_phases))
      spans.push_back({i, unmatched, SpanKind::instant, 0});
    contexts += marks.phase[i] == '(' || marks.phase[i] == ')' ? 1 : 0;
  }
  if (!spans.empty()) add_spans(spans, events, units, ops, shapes, profile);
  const std::uint64_t refused = add_counters(events, units, profile);
  note(profile, events, counts.without_end,
       "asynchronous events without an end, kept with duration 0");
  note(profile, events, counts.without_begin,
       "ends of asynchronous events that never began, left out");
  note(profile, events, refused, "values of counters that are not numbers, left out");
  note(profile, events, contexts, "context events, left out");
}

}  // namespace npuscope::chrome
