#include "formats/perfetto/read/clocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/field_reader.hpp"
#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {
namespace {

// No trace has more; a hostile one must not make the search for a route long.
constexpr std::size_t max_trace_wide_clocks = 32;
constexpr std::size_t max_groups = 64;

struct SnapshotClock {
  std::uint32_t id = 0;
  std::uint64_t timestamp = 0;
  bool incremental = false;
  std::uint64_t unit_ns = 1;
};

SnapshotClock decode_clock(std::string_view message) {
  SnapshotClock clock;
  FieldReader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case varint_field(clock_field::id): clock.id = reader.get_uint32(); break;
      case varint_field(clock_field::timestamp): clock.timestamp = reader.get_uint64(); break;
      case varint_field(clock_field::is_incremental):
        clock.incremental = reader.get_uint64() != 0;
        break;
      case varint_field(clock_field::unit_multiplier_ns):
        clock.unit_ns = std::max<std::uint64_t>(reader.get_uint64(), 1);
        break;
      default: reader.skip();
    }
  }
  return clock;
}

std::optional<std::int64_t> in_nanoseconds(std::uint64_t timestamp, std::uint64_t unit_ns) {
  std::int64_t time = 0;
  if (__builtin_mul_overflow(timestamp, unit_ns, &time)) return std::nullopt;
  return time;
}

// The time `at` by another clock that read other[i] when this one read own[i].
std::optional<std::int64_t> translate(const std::vector<std::int64_t>& own,
                                      const std::vector<std::int64_t>& other, std::int64_t at) {
  if (own.empty()) return std::nullopt;
  std::size_t place = own.size() - 1;
  if (at < own[place]) {
    const auto after = std::upper_bound(own.begin(), own.end(), at);
    place = after == own.begin() ? 0 : std::size_t(after - own.begin()) - 1;
  }
  std::int64_t since = 0;
  std::int64_t time = 0;
  if (__builtin_sub_overflow(at, own[place], &since)) return std::nullopt;
  if (__builtin_add_overflow(other[place], since, &time)) return std::nullopt;
  return time;
}

const char* clock_name(std::uint32_t id) {
  switch (id) {
    case clock_id::realtime: return "realtime";
    case clock_id::realtime_coarse: return "realtime coarse";
    case clock_id::monotonic: return "monotonic";
    case clock_id::monotonic_coarse: return "monotonic coarse";
    case clock_id::monotonic_raw: return "monotonic raw";
    case clock_id::boottime: return "boottime";
    default: return nullptr;
  }
}

}  // namespace

void Clocks::add_snapshot(std::string_view message, std::uint32_t sequence, std::uint64_t offset) {
  std::vector<Reading> trace_wide;
  std::vector<Reading> of_sequence;
  std::uint32_t primary = 0;
  FieldReader reader(message);
  while (reader.next()) {
    if (reader.tag_and_type() == varint_field(snapshot_field::primary_trace_clock)) {
      primary = reader.get_uint32();
    } else if (reader.tag_and_type() == bytes_field(snapshot_field::clocks)) {
      const SnapshotClock clock = decode_clock(reader.get_view());
      const auto time = in_nanoseconds(clock.timestamp, clock.unit_ns);
      if (clock.id == 0) continue;
      if (!time) {
        defects_->add(Defect::time_out_of_range, offset);
      } else if (is_sequence_clock(clock.id)) {
        SequenceClock& entry = sequence_clocks_[std::uint64_t(sequence) << 32 | clock.id];
        entry.unit_ns = clock.unit_ns;
        entry.incremental = clock.incremental;
        of_sequence.push_back({clock.id, *time});
      } else {
        if (clock.unit_ns != 1 && units_ns_.size() < max_trace_wide_clocks) {
          units_ns_[clock.id] = clock.unit_ns;
        }
        trace_wide.push_back({clock.id, *time});
      }
    } else {
      reader.skip();
    }
  }
  last_clock_ = nullptr;
  last_steps_ = false;
  ++snapshots_;
  if (primary != 0 && !is_sequence_clock(primary) && !base_chosen_) base_ = primary;
  for (const Reading& reading : of_sequence) {
    relate(reading.clock, sequence, reading.time, trace_wide);
  }
  add_group(std::move(trace_wide), offset);
}

void Clocks::relate(std::uint32_t clock, std::uint32_t sequence, std::int64_t time,
                    const std::vector<Reading>& trace_wide) {
  SequenceClock& entry = sequence_clocks_[std::uint64_t(sequence) << 32 | clock];
  entry.last = time;
  if (trace_wide.empty()) return;
  const auto base = std::find_if(trace_wide.begin(), trace_wide.end(),
                                 [&](const Reading& reading) { return reading.clock == base_; });
  const Reading& to = base == trace_wide.end() ? trace_wide.front() : *base;
  // Another clock, or one that went back: what was known before is no help for what follows.
  if (to.clock != entry.related_to || (!entry.own.empty() && time < entry.own.back())) {
    entry.own.clear();
    entry.other.clear();
  }
  entry.related_to = to.clock;
  entry.own.push_back(time);
  entry.other.push_back(to.time);
}

void Clocks::add_group(std::vector<Reading> readings, std::uint64_t offset) {
  std::stable_sort(readings.begin(), readings.end(),
                   [](const Reading& a, const Reading& b) { return a.clock < b.clock; });
  readings.erase(std::unique(readings.begin(), readings.end(),
                             [](const Reading& a, const Reading& b) { return a.clock == b.clock; }),
                 readings.end());
  if (readings.size() > max_trace_wide_clocks) {
    defects_->add(Defect::too_many_clocks, offset, readings.size() - max_trace_wide_clocks);
    readings.resize(max_trace_wide_clocks);
  }
  if (readings.size() < 2) return;
  std::vector<std::uint32_t> clocks;
  for (const Reading& reading : readings) clocks.push_back(reading.clock);
  auto group = std::find_if(groups_.begin(), groups_.end(),
                            [&](const Group& known) { return known.clocks == clocks; });
  if (group == groups_.end()) {
    if (groups_.size() == max_groups) {
      defects_->add(Defect::too_many_clocks, offset);
      return;
    }
    groups_.push_back({clocks, std::vector<std::vector<std::int64_t>>(clocks.size())});
    group = groups_.end() - 1;
  }
  bool went_back = false;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    const auto& earlier = group->readings[i];
    went_back |= !earlier.empty() && readings[i].time < earlier.back();
  }
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (went_back) group->readings[i].clear();
    group->readings[i].push_back(readings[i].time);
  }
}

void Clocks::assume_base(std::uint32_t clock) {
  base_ = clock;
  base_chosen_ = true;
  last_steps_ = false;
}

std::optional<std::int64_t> Clocks::any_to_trace_time(std::uint32_t clock, std::uint32_t sequence,
                                                      std::uint64_t timestamp) {
  if (!is_sequence_clock(clock)) {
    if (clock == 0) clock = base_;
    const auto unit = units_ns_.empty() ? units_ns_.end() : units_ns_.find(clock);
    const auto time = in_nanoseconds(timestamp, unit == units_ns_.end() ? 1 : unit->second);
    if (!time) return std::nullopt;
    return trace_wide_to_base(clock, *time);
  }
  const std::uint64_t key = std::uint64_t(sequence) << 32 | clock;
  if (last_clock_ == nullptr || key != last_key_) {
    const auto found = sequence_clocks_.find(key);
    if (found == sequence_clocks_.end()) return std::nullopt;
    last_clock_ = &found->second;
    last_key_ = key;
  }
  const auto time = sequence_time(*last_clock_, timestamp);
  remember_steps();
  if (!time) return std::nullopt;
  const auto related = translate(last_clock_->own, last_clock_->other, *time);
  if (!related) return std::nullopt;
  return trace_wide_to_base(last_clock_->related_to, *related);
}

// Whether the next timestamps of this clock, if small, need no more than an addition.
void Clocks::remember_steps() {
  const SequenceClock& clock = *last_clock_;
  constexpr std::int64_t far = std::int64_t{1} << 62;
  last_steps_ = clock.incremental && clock.unit_ns == 1 && clock.related_to == base_ &&
                !clock.own.empty() && clock.last >= clock.own.back() && clock.last < far;
  if (!last_steps_) return;
  last_steps_ = !__builtin_sub_overflow(clock.other.back(), clock.own.back(), &last_offset_) &&
                last_offset_ > -far && last_offset_ < far;
}

std::optional<std::int64_t> Clocks::sequence_time(SequenceClock& clock, std::uint64_t timestamp) {
  const auto time = in_nanoseconds(timestamp, clock.unit_ns);
  if (!time || !clock.incremental) return time;
  if (__builtin_add_overflow(clock.last, *time, &clock.last)) {
    clock.last = 0;
    return std::nullopt;
  }
  return clock.last;
}

std::optional<std::int64_t> Clocks::trace_wide_to_base(std::uint32_t clock, std::int64_t time) {
  if (clock == base_) return time;
  const Route& route = route_from(clock);
  if (!route.known) return std::nullopt;
  for (const Hop& hop : route.hops) {
    const Group& group = groups_[hop.group];
    const auto next = translate(group.readings[hop.from], group.readings[hop.to], time);
    if (!next) return std::nullopt;
    time = *next;
  }
  return time;
}

const Clocks::Route& Clocks::route_from(std::uint32_t clock) {
  Route& route = routes_[clock];
  if (!route.known && route.groups_seen != groups_.size()) {
    route = find_route(clock);
    route.groups_seen = groups_.size();
  }
  return route;
}

// Breadth first: the fewest snapshots between.
Clocks::Route Clocks::find_route(std::uint32_t clock) const {
  struct Visited {
    std::uint32_t clock;
    std::size_t previous;
    Hop hop;
  };
  std::vector<Visited> visited{{clock, 0, {}}};
  const auto seen = [&](std::uint32_t other) {
    return std::any_of(visited.begin(), visited.end(),
                       [&](const Visited& entry) { return entry.clock == other; });
  };
  for (std::size_t i = 0; i < visited.size() && visited.size() <= max_trace_wide_clocks; ++i) {
    if (visited[i].clock == base_) {
      Route route{true, 0, {}};
      for (std::size_t at = i; at != 0; at = visited[at].previous) {
        route.hops.insert(route.hops.begin(), visited[at].hop);
      }
      return route;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto& clocks = groups_[g].clocks;
      const auto from = std::lower_bound(clocks.begin(), clocks.end(), visited[i].clock);
      if (from == clocks.end() || *from != visited[i].clock) continue;
      for (std::size_t to = 0; to < clocks.size(); ++to) {
        if (!seen(clocks[to])) {
          visited.push_back({clocks[to], i, {g, std::size_t(from - clocks.begin()), to}});
        }
      }
    }
  }
  return {};
}

void Clocks::fill(Profile& profile) const {
  const auto add = [&](std::uint32_t id, bool known, std::int64_t offset) {
    const char* known_name = clock_name(id);
    const std::string name = known_name != nullptr ? known_name : fmt::format("clock {}", id);
    profile.clocks.push_back(
        {profile.strings.intern(name), ClockKind::wall, Hertz{1e9}, known, offset});
  };
  profile.base_clock = ClockId(0);
  add(base_, true, 0);
  std::vector<std::uint32_t> others;
  for (const Group& group : groups_) {
    for (const std::uint32_t clock : group.clocks) {
      if (clock != base_ && std::find(others.begin(), others.end(), clock) == others.end() &&
          others.size() < max_trace_wide_clocks) {
        others.push_back(clock);
      }
    }
  }
  std::sort(others.begin(), others.end());
  for (const std::uint32_t other : others) {
    const Route route = find_route(other);
    if (!route.known || route.hops.empty()) continue;
    const Hop& first = route.hops.front();
    const std::int64_t read = groups_[first.group].readings[first.from].front();
    std::optional<std::int64_t> time = read;
    for (const Hop& hop : route.hops) {
      const Group& group = groups_[hop.group];
      if (time) time = translate(group.readings[hop.from], group.readings[hop.to], *time);
    }
    std::int64_t offset = 0;
    if (time && !__builtin_sub_overflow(*time, read, &offset)) add(other, true, offset);
  }
}

}  // namespace npuscope::perfetto
