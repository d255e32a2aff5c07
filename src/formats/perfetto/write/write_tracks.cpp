#include "formats/perfetto/write/write_tracks.hpp"

#include <fmt/format.h>

#include "base/numbers.hpp"
#include "formats/perfetto/about.hpp"
#include "formats/perfetto/fields.hpp"

namespace npuscope::perfetto {

namespace {

// Ranks of what lies under a unit's track: units keep theirs, all else comes after.
constexpr std::int32_t after_units = 1 << 30;

// splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators): spreads counters
// over all of 64 bits, one to one.
std::uint64_t spread(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15u;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

template <class Integer>
std::optional<Integer> number_in(std::string_view text) {
  const auto value = parse_number<Integer>(text);
  // Perfetto takes 0 for the idle process of Linux.
  return value && *value != 0 && fmt::format("{}", *value) == text ? value : std::nullopt;
}

std::string place_text(std::uint32_t unit, bool exists) {
  return text_of(exists ? TrackPlace{TrackPlace::Kind::unit, unit}
                        : TrackPlace{TrackPlace::Kind::no_unit});
}

}  // namespace

std::uint64_t TrackWriter::add(const TrackToWrite& track) {
  const std::uint64_t uuid = spread(seed_ + ++count_);
  MessageBuffer descriptor;
  descriptor.add_varint(track_field::uuid, uuid);
  if (track.parent != 0) descriptor.add_varint(track_field::parent_uuid, track.parent);
  MessageBuffer part;
  if (track.pid && track.tid) {
    part.add_varint(thread_field::pid, std::uint64_t(std::int64_t(*track.pid)));
    part.add_varint(thread_field::tid, std::uint64_t(*track.tid));
    part.add_bytes(thread_field::name, track.name);
    descriptor.add_message(track_field::thread, part);
  } else if (track.pid) {
    part.add_varint(process_field::pid, std::uint64_t(std::int64_t(*track.pid)));
    part.add_bytes(process_field::name, track.name);
    descriptor.add_message(track_field::process, part);
  } else {
    descriptor.add_bytes(track_field::name, track.name);
    descriptor.add_varint(track_field::sibling_merge_behavior, merge_behavior::never);
  }
  if (track.is_counter) {
    if (track.quantity == "bytes") {
      part.add_varint(counter_field::unit, counter_unit::bytes);
    } else if (track.quantity == "ns") {
      part.add_varint(counter_field::unit, counter_unit::nanoseconds);
    } else if (track.quantity == "count") {
      part.add_varint(counter_field::unit, counter_unit::count);
    } else if (!track.quantity.empty()) {
      part.add_bytes(counter_field::unit_name, track.quantity);
    }
    descriptor.add_message(track_field::counter, part);
  } else {
    descriptor.add_varint(track_field::child_ordering, std::uint32_t(ChildOrdering::explicit_rank));
  }
  if (!track.description.empty()) {
    descriptor.add_bytes(track_field::description, track.description);
  }
  descriptor.add_varint(track_field::sibling_order_rank, std::uint64_t(std::int64_t(track.rank)));
  MessageBuffer packet;
  packet.add_message(packet_field::track_descriptor, descriptor);
  sink_->add(packet);
  return uuid;
}

UnitTracks::UnitTracks(const Profile& profile, TrackWriter& tracks, UsedIds& used,
                       std::uint64_t root)
    : profile_(profile),
      tracks_(tracks),
      used_(used),
      root_(root),
      uuid_(profile.units.size(), 0),
      name_(profile.units.size()) {
  std::vector<bool> has_children(profile.units.size(), false);
  for (const Unit& unit : profile.units) {
    if (is_unit(unit.parent)) has_children[index_of(unit.parent)] = true;
  }
  std::vector<std::uint32_t> path;
  for (std::uint32_t unit = 0; unit < uuid_.size(); ++unit) {
    // Parents first; in a forged ring the one met again counts as the root.
    path = {unit};
    for (;;) {
      const UnitId parent = profile.units[path.back()].parent;
      if (!is_unit(parent) || uuid_[index_of(parent)] != 0 || path.size() > uuid_.size()) break;
      path.push_back(index_of(parent));
    }
    for (auto at = path.rbegin(); at != path.rend(); ++at) {
      if (uuid_[*at] == 0) add_unit(*at, has_children[*at]);
    }
  }
}

TrackToWrite UnitTracks::describe(std::uint32_t number, bool has_children) const {
  const Unit& unit = profile_.units[number];
  TrackToWrite track;
  track.description = place_text(number, true);
  track.name = profile_.text(unit.name);
  track.rank = std::int32_t(std::min<std::uint32_t>(number, after_units - 1));
  track.parent = is_unit(unit.parent) ? uuid_[index_of(unit.parent)] : root_;
  const std::string_view pid = profile_.text(unit.process_id);
  const std::string_view tid = profile_.text(unit.thread_id);
  const bool hardware = unit.engine != Engine::process && unit.engine != Engine::thread &&
                        unit.engine != Engine::other;
  if (unit.engine == Engine::process && track.name.empty())
    track.name = fmt::format("process {}", pid);
  if (unit.engine == Engine::thread && track.name.empty())
    track.name = fmt::format("thread {}", tid);
  const bool has_number = track.name.find_first_of("0123456789") != std::string::npos;
  if (hardware && !has_children && !has_number && is_unit(unit.parent)) {
    track.name += fmt::format(" {}", unit.lane);  // which of a core's threads
  } else if (!hardware && unit.engine != Engine::process && unit.lane > 0) {
    track.name += fmt::format(" ({})", unit.lane + 1);
  }
  return track;
}

void UnitTracks::add_unit(std::uint32_t number, bool has_children) {
  const Unit& unit = profile_.units[number];
  TrackToWrite track = describe(number, has_children);
  name_[number] = track.name;
  const auto pid = number_in<std::int32_t>(profile_.text(unit.process_id));
  const auto tid = number_in<std::int64_t>(profile_.text(unit.thread_id));
  const bool is_process = unit.engine == Engine::process && pid && root_ == 0;
  const bool is_thread = unit.engine == Engine::thread && pid && tid && root_ == 0;
  if (is_process && track.parent == 0 && !used_.processes.contains(*pid)) {
    track.pid = pid;
  } else if (is_thread && used_.processes.contains(*pid) && !used_.threads.contains({*pid, *tid}) &&
             track.parent == used_.processes[*pid]) {
    track.pid = pid;
    track.tid = tid;
  }
  if (track.pid && profile_.text(unit.name).empty()) track.name.clear();
  uuid_[number] = tracks_.add(track);
  if (track.tid) {
    used_.threads[{*pid, *tid}] = uuid_[number];
  } else if (track.pid) {
    used_.processes[*pid] = uuid_[number];
  }
}

std::uint64_t UnitTracks::add_lane(UnitId unit, std::uint32_t lane) {
  TrackToWrite track;
  if (is_unit(unit)) {
    const Unit& of = profile_.units[index_of(unit)];
    track.name = name_[index_of(unit)];
    track.parent = is_unit(of.parent) ? uuid_[index_of(of.parent)] : root_;
    track.rank = std::int32_t(std::min<std::uint32_t>(index_of(unit), after_units - 1));
  } else {
    track.name = "no unit";
    track.parent = root_;
    track.rank = after_units;
  }
  if (lane > 0) track.name += fmt::format(" ({})", lane + 1);
  track.description = place_text(index_of(unit), is_unit(unit));
  return tracks_.add(track);
}

std::uint64_t UnitTracks::add_below(UnitId unit, TrackToWrite track) {
  track.parent = is_unit(unit) ? of(unit) : root_;
  if (track.rank == 0) track.rank = after_units;
  if (track.description.empty() && !track.is_counter) {
    track.description = place_text(index_of(unit), is_unit(unit));
  }
  return tracks_.add(track);
}

namespace {

void pop_ended(std::vector<std::int64_t>& open, std::int64_t start) {
  while (!open.empty() && open.back() <= start) open.pop_back();
}

}  // namespace

void LaneAssigner::forget_ended(std::int64_t start) {
  while (!busy_.empty() && busy_.begin()->first <= start) {
    const std::uint32_t lane = busy_.begin()->second;
    busy_.erase(busy_.begin());
    pop_ended(open_[lane], start);
    if (open_[lane].empty()) {
      idle_.insert(lane);
    } else {
      busy_.emplace(open_[lane].back(), lane);
    }
  }
}

std::uint32_t LaneAssigner::place(std::int64_t start, std::int64_t end) {
  std::vector<std::int64_t>& first = open_[0];
  pop_ended(first, start);
  if (first.empty() || end <= first.back()) {
    first.push_back(end);
    return 0;
  }
  forget_ended(start);
  std::uint32_t lane = 0;
  if (const auto tightest = busy_.lower_bound({end, 0}); tightest != busy_.end()) {
    lane = tightest->second;
    busy_.erase(tightest);
  } else if (!idle_.empty()) {
    lane = *idle_.begin();
    idle_.erase(idle_.begin());
  } else {
    lane = std::uint32_t(open_.size());
    open_.emplace_back();
  }
  open_[lane].push_back(end);
  busy_.emplace(end, lane);
  return lane;
}

}  // namespace npuscope::perfetto
