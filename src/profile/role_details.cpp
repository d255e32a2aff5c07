#include "profile/role_details.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/numbers.hpp"
#include "npuscope/profile/intervals.hpp"
#include "npuscope/profile/spans_by_unit.hpp"
#include "profile/shared_numbers.hpp"

namespace npuscope {
namespace {

std::optional<Argument> argument_of(const Profile& profile, std::size_t row,
                                    std::string_view name) {
  const Arguments& arguments = profile.spans.arguments;
  const auto id = profile.strings.find(name);
  if (!id || arguments.size() != profile.spans.size()) return std::nullopt;
  return arguments.find(row, *id);
}

// A number, or a text that begins with one, "14139908 bytes", or names one: "size:112 dest:4".
std::optional<std::int64_t> bytes_in(const Argument& argument, const Profile& profile) {
  std::int64_t bytes = 0;
  if (argument.key.type == ArgumentType::text) {
    std::string_view text = profile.text(argument.text());
    constexpr std::string_view size = "size:";
    if (const auto at = text.find(size); at != text.npos) text.remove_prefix(at + size.size());
    bytes = take_number<std::int64_t>(text).value_or(-1);
  } else {
    constexpr double max = 9e18;
    const auto number = argument.as_number();
    if (!number || !(*number < max)) return std::nullopt;
    bytes = std::llround(std::max(*number, 0.0));
  }
  return bytes >= 0 ? std::optional(bytes) : std::nullopt;
}

void add_bytes(const std::vector<Detailed>& detailed, Profile& profile) {
  std::optional<MeasureColumn> columns[2];  // read, written
  constexpr NamedNumber numbers[] = {ddr_read_bytes, ddr_write_bytes};
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->bytes.empty()) continue;
    const auto argument = argument_of(profile, row, rule->bytes);
    const auto bytes = argument ? bytes_in(*argument, profile) : std::nullopt;
    if (!bytes) continue;
    std::string_view way;
    if (rule->direction.empty()) {
      way = profile.text(profile.ops[index_of(profile.spans.op[row])].name);
    } else if (const auto said = argument_of(profile, row, rule->direction)) {
      if (said->key.type == ArgumentType::text) way = profile.text(said->text());
    }
    const bool gives[] = {rule->from_device && rule->from_device->found_in(way),
                          rule->to_device && rule->to_device->found_in(way)};
    for (std::size_t i = 0; i < std::size(gives); ++i) {
      if (!gives[i]) continue;
      if (!columns[i]) {
        columns[i] = profile.column_of(numbers[i], Origin::measured);
        columns[i]->values.assign(profile.spans.size(), MeasureColumn::missing);
      }
      columns[i]->values[row] = *bytes;
    }
  }
  for (auto& column : columns) {
    const bool is_new = column && profile.spans.measure(column->what) == nullptr;
    if (is_new) profile.spans.measures.push_back(std::move(*column));
  }
}

// A number is the same in quotes.
std::string text_of(const Argument& argument, const Profile& profile) {
  switch (argument.key.type) {
    case ArgumentType::integer: return fmt::to_string(argument.integer());
    case ArgumentType::unsigned_integer: return fmt::to_string(argument.unsigned_integer());
    case ArgumentType::text: return std::string(profile.text(argument.text()));
    default: return {};
  }
}

// The arguments that name an event, as one text; empty where one lacks.
std::string event_of(const Profile& profile, std::size_t row,
                     const std::vector<std::string>& names) {
  std::string event;
  for (const std::string& name : names) {
    const auto argument = argument_of(profile, row, name);
    if (!argument) return {};
    event += text_of(*argument, profile);
    event += '\0';
  }
  return event;
}

// From what raises an event to what waits for it: the last time that it was raised before the wait
// was over.
void add_waits(const std::vector<Detailed>& detailed, Profile& profile) {
  const Spans& spans = profile.spans;
  std::unordered_map<std::string, std::vector<std::uint32_t>> signals;
  for (const auto& [row, rule, was_known] : detailed) {
    if (was_known || rule->signals.empty()) continue;
    const std::string event = event_of(profile, row, rule->signals);
    if (!event.empty()) signals[event].push_back(row);
  }
  const auto starts_before = [&](std::int64_t time, std::uint32_t row) {
    return time < spans.start[row];
  };
  for (auto& [event, rows] : signals) {
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return spans.start[a] < spans.start[b];
    });
  }
  const StringId name = profile.strings.intern("event");
  for (const auto& [row, rule, was_known] : detailed) {
    if (was_known || rule->waits_for.empty()) continue;
    const auto found = signals.find(event_of(profile, row, rule->waits_for));
    if (found == signals.end()) continue;
    const std::int64_t over = saturating_add(spans.start[row], spans.duration[row]);
    const auto after =
        std::upper_bound(found->second.begin(), found->second.end(), over, starts_before);
    if (after == found->second.begin()) continue;
    profile.flows.push_back({SpanId(after[-1]), SpanId(row), EdgeKind::order, name, {}});
  }
}

constexpr std::uint32_t no_series = std::numeric_limits<std::uint32_t>::max();

UnitId process_of(const Profile& profile, UnitId unit) {
  for (int depth = 0; depth < 16 && index_of(unit) < profile.units.size(); ++depth) {
    const UnitId parent = profile.units[index_of(unit)].parent;
    if (index_of(parent) >= profile.units.size()) break;
    unit = parent;
  }
  return unit;
}

// "Device Type 1, Device Id 0".
std::string part_of_series(const Profile& profile, std::size_t row, const RoleRule& rule) {
  std::string part;
  for (const std::string& name : rule.series) {
    const auto said = argument_of(profile, row, name);
    if (!said) continue;
    part += fmt::format("{}{} {}", part.empty() ? "" : ", ", name, text_of(*said, profile));
  }
  return part;
}

// A new series; none where the trace has it already, as where npuscope wrote it.
std::uint32_t add_series(Profile& profile, std::size_t known, CounterSeries series) {
  auto& all = profile.counters.series;
  for (std::size_t i = 0; i < known; ++i) {
    const CounterSeries& each = all[i];
    const bool same =
        each.unit == series.unit && each.name == series.name && each.part == series.part;
    if (same) return no_series;
  }
  all.push_back(series);
  return std::uint32_t(all.size() - 1);
}

// Instants that say how much of something there is.
void add_counters(const std::vector<Detailed>& detailed, Profile& profile) {
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> series;  // by process and part
  const std::size_t known = profile.counters.series.size();
  for (const auto& [row, rule, was_known] : detailed) {
    if (rule->counter.empty()) continue;
    const auto argument = argument_of(profile, row, rule->counter);
    const auto value = argument ? argument->as_number() : std::nullopt;
    if (!value || !std::isfinite(*value)) continue;
    const std::string part = part_of_series(profile, row, *rule);
    const UnitId process = process_of(profile, profile.spans.unit[row]);
    const auto [place, is_new] =
        series.try_emplace({index_of(process), rule->counter + '\n' + part}, no_series);
    if (is_new) {
      place->second =
          add_series(profile, known,
                     {process, profile.strings.intern(rule->counter), profile.strings.intern(part),
                      profile.strings.intern(rule->quantity)});
    }
    if (place->second == no_series) continue;
    profile.counters.of.push_back(place->second);
    profile.counters.time.push_back(profile.spans.start[row]);
    profile.counters.value.push_back(*value);
  }
}

// The track next to it, of the same parent, that a rule names.
UnitId track_next_to(const Profile& profile, UnitId unit, const Pattern& name) {
  if (index_of(unit) >= profile.units.size()) return UnitId::none;
  const UnitId parent = profile.units[index_of(unit)].parent;
  for (std::uint32_t i = 0; i < profile.units.size(); ++i) {
    const Unit& other = profile.units[i];
    if (UnitId(i) == unit || other.parent != parent || parent == UnitId::none) continue;
    if (name.found_in(profile.text(other.name))) return UnitId(i);
  }
  return UnitId::none;
}

// Slices of one track, by start, that lie in those of another go there, one after another: what
// runs at once with one that went stays.
void move_slices(std::vector<std::uint32_t>& rows, std::vector<Interval> around, UnitId to,
                 Profile& profile) {
  Spans& spans = profile.spans;
  std::sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(spans.start[a], a) < std::pair(spans.start[b], b);
  });
  std::sort(around.begin(), around.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
  std::int64_t busy_until = std::numeric_limits<std::int64_t>::min(), open_until = busy_until;
  std::size_t next = 0;
  for (const std::uint32_t row : rows) {
    const Interval slice = interval_of(spans, row);
    for (; next < around.size() && around[next].begin <= slice.begin; ++next) {
      open_until = std::max(open_until, around[next].end);
    }
    if (slice.end > open_until || slice.begin < busy_until) continue;
    spans.unit[row] = to;
    busy_until = slice.end;
  }
}

void move_within(const std::vector<Detailed>& detailed, Profile& profile) {
  std::map<std::pair<std::uint32_t, const RoleRule*>, UnitId> next_to;
  std::map<std::uint32_t, std::vector<std::uint32_t>> rows_to;  // by where they go
  for (const auto& [row, rule, was_known] : detailed) {
    if (was_known || !rule->within) continue;
    const UnitId unit = profile.spans.unit[row];
    const auto [to, is_new] = next_to.try_emplace({index_of(unit), rule}, UnitId::none);
    if (is_new) to->second = track_next_to(profile, unit, *rule->within);
    if (to->second != UnitId::none) rows_to[index_of(to->second)].push_back(row);
  }
  if (rows_to.empty()) return;
  std::map<std::uint32_t, std::vector<Interval>> around;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    const std::uint32_t unit = index_of(profile.spans.unit[row]);
    if (rows_to.contains(unit) && profile.spans.duration[row] > 0) {
      around[unit].push_back(interval_of(profile.spans, row));
    }
  }
  for (auto& [to, rows] : rows_to) {
    move_slices(rows, std::move(around[to]), UnitId(to), profile);
  }
}

}  // namespace

void add_details(const std::vector<Detailed>& detailed, Profile& profile) {
  move_within(detailed, profile);
  add_counters(detailed, profile);
  add_bytes(detailed, profile);
  add_waits(detailed, profile);
}

}  // namespace npuscope
