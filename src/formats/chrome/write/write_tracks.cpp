#include "formats/chrome/write/write_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/json_writer.hpp"
#include "base/numbers.hpp"

namespace npuscope::chrome {
namespace {

// A pid or tid as the trace had it: 7 stays a number, "rank 3" and "007" stay strings.
std::string id_as_json(std::string_view id) {
  const auto number = parse_number<std::int64_t>(id);
  if (number && fmt::format("{}", *number) == id) return std::string(id);
  std::string json;
  JsonWriter(json).value(id);
  return json;
}

std::string name_within_parents(const Profile& profile, UnitId unit) {
  constexpr int deepest = 16;  // parents may form a ring in a forged profile
  std::string path;
  for (int depth = 0; depth < deepest && index_of(unit) < profile.units.size(); ++depth) {
    const Unit& here = profile.units[index_of(unit)];
    const std::string name(profile.text(here.name));
    if (!name.empty()) path = path.empty() ? name : name + " > " + path;
    unit = here.parent;
  }
  return path;
}

bool is_hardware(const Unit& unit) {
  return unit.engine != Engine::process && unit.engine != Engine::thread &&
         unit.engine != Engine::other;
}

// "HVX" of four threads is "HVX 0" … "HVX 3"; a name with a number of its own stays, and so does
// that of a track, beside which further lanes of it can lie.
std::string own_name(const Profile& profile, const Unit& unit, bool is_leaf) {
  const std::string name(profile.text(unit.name));
  if (unit.engine == Engine::other && unit.lane > 0) {
    return fmt::format("{} ({})", name, unit.lane + 1);
  }
  const bool numbered = name.find_first_of("0123456789") != std::string::npos;
  if (!is_leaf || numbered || name.empty() || !is_hardware(unit) || unit.parent == UnitId::none) {
    return name;
  }
  return fmt::format("{} {}", name, unit.lane);
}

class Arrangement {
 public:
  Arrangement(const Profile& profile, const RowsByUnit& by_unit)
      : profile_(profile),
        by_unit_(by_unit),
        nanoseconds_(profile),
        has_children_(profile.units.size(), false),
        is_used_(profile.units.size(), false) {
    for (std::uint32_t unit = 0; unit < profile.units.size(); ++unit) {
      is_used_[unit] = !by_unit.of(UnitId(unit)).empty();
    }
    for (const CounterSeries& series : profile.counters.series) {
      if (index_of(series.unit) < is_used_.size()) is_used_[index_of(series.unit)] = true;
    }
    for (const Unit& unit : profile.units) {
      if (index_of(unit.parent) < has_children_.size()) has_children_[index_of(unit.parent)] = true;
      if (unit.process_id != StringId::empty) used_.insert(std::string(text(unit.process_id)));
      if (unit.thread_id != StringId::empty) used_.insert(std::string(text(unit.thread_id)));
    }
  }

  Layout make();

 private:
  std::string_view text(StringId id) const { return profile_.text(id); }
  std::string fresh_id();
  void add_unit(UnitId unit);
  void add_unknown_unit();
  void add_track(Track track);
  void add_lanes(UnitId unit, std::uint32_t first_track);
  void order_equal_starts();

  const Profile& profile_;
  const RowsByUnit& by_unit_;
  Nanoseconds nanoseconds_;
  std::vector<bool> has_children_, is_used_;
  std::set<std::string> used_;
  std::uint64_t next_id_ = 1;
  std::map<std::string, std::string> process_of_key_;
  std::set<std::pair<std::string, std::string>> taken_;
  std::int64_t next_sort_index_ = 0;
  Layout layout_;
};

std::string Arrangement::fresh_id() {
  for (;;) {
    std::string id = fmt::format("{}", next_id_++);
    if (!used_.contains(id)) return id;
  }
}

void Arrangement::add_track(Track track) { layout_.tracks.push_back(std::move(track)); }

void Arrangement::add_unit(UnitId id) {
  const Unit& unit = profile_.units[index_of(id)];
  const bool has_process_id = unit.process_id != StringId::empty;
  const bool is_process =
      has_children_[index_of(id)] || index_of(unit.parent) >= has_children_.size();
  const UnitId process = is_process ? id : unit.parent;
  const std::string key = has_process_id ? "id " + std::string(text(unit.process_id))
                                         : fmt::format("unit {}", index_of(process));
  const auto [place, is_new] = process_of_key_.try_emplace(key);
  if (is_new) place->second = has_process_id ? id_as_json(text(unit.process_id)) : fresh_id();
  Track track;
  track.process = place->second;
  track.names_process = is_new;
  track.process_name = name_within_parents(profile_, process);
  if (has_process_id && unit.thread_id == StringId::empty) {
    track.thread = "";  // events of the process itself
  } else if (unit.thread_id != StringId::empty) {
    track.thread = id_as_json(text(unit.thread_id));
    track.thread_name = own_name(profile_, unit, true);
  } else {
    track.thread = fresh_id();
    track.thread_name = own_name(profile_, unit, !is_process);
    track.sort_index = next_sort_index_++;
    if (!is_used_[index_of(id)]) track.thread_name.clear();  // nothing is drawn on it
  }
  if (!taken_.insert({track.process, track.thread}).second) {
    track.thread = fresh_id();
    taken_.insert({track.process, track.thread});
  }
  layout_.track_of_unit[index_of(id)] = std::uint32_t(layout_.tracks.size());
  add_track(std::move(track));
}

void Arrangement::add_unknown_unit() {
  layout_.track_of_unit.back() = std::uint32_t(layout_.tracks.size());
  const auto& rows = by_unit_.of(UnitId::none);
  const bool any_counter = std::any_of(
      profile_.counters.series.begin(), profile_.counters.series.end(),
      [&](const auto& series) { return index_of(series.unit) >= profile_.units.size(); });
  if (rows.empty() && !any_counter) {
    layout_.track_of_unit.back() = 0;
    return;
  }
  Track track;
  track.process = fresh_id();
  track.thread = "1";
  track.names_process = true;
  track.process_name = track.thread_name = "(no unit)";
  add_track(std::move(track));
}

// Spans of a unit that overlap without nesting go to further tracks of the same process.
void Arrangement::add_lanes(UnitId unit, std::uint32_t first_track) {
  const Spans& spans = profile_.spans;
  LanePlacer lanes;
  std::vector<std::uint32_t> track_of_lane{first_track};
  NestingOrder nesting(spans, nanoseconds_);
  for (const std::uint32_t row : nesting.of(by_unit_.of(unit))) {
    if (spans.kind[row] == SpanKind::async || spans.kind[row] == SpanKind::instant) continue;
    const std::uint32_t lane = lanes.place(
        nanoseconds_.merges() ? nanoseconds_of(nanoseconds_, spans, row) : interval_of(spans, row));
    if (lane == 0) continue;
    if (lane >= track_of_lane.size()) {
      Track track = layout_.tracks[first_track];
      track.thread = fresh_id();
      track.names_process = false;
      const std::string name = track.thread_name.empty() ? track.process_name : track.thread_name;
      track.thread_name = fmt::format("{} ({})", name, lane + 1);
      track_of_lane.push_back(std::uint32_t(layout_.tracks.size()));
      add_track(std::move(track));
    }
    if (layout_.track_of_span.empty()) {
      layout_.track_of_span.resize(spans.size());
      for (std::size_t i = 0; i < spans.size(); ++i) {
        layout_.track_of_span[i] = layout_.track(spans.unit[i]);
      }
    }
    layout_.track_of_span[row] = track_of_lane[lane];
    layout_.moved += 1;
  }
}

// Of slices that begin together viewers nest the one that comes later in the file.
void Arrangement::order_equal_starts() {
  const Spans& spans = profile_.spans;
  const auto moment = [&](std::uint32_t row) {
    return nanoseconds_.merges() ? nanoseconds_.of(spans.start[row]) : spans.start[row];
  };
  NestingOrder nesting(spans, nanoseconds_);
  std::vector<std::uint32_t> places;
  for (std::size_t unit = 0; unit <= profile_.units.size(); ++unit) {
    const auto rows = nesting.of(by_unit_.of(UnitId(std::uint32_t(unit))));
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      const std::int64_t start = moment(rows[begin]);
      while (end < rows.size() && moment(rows[end]) == start) ++end;
      const auto group = rows.subspan(begin, end - begin);
      if (std::is_sorted(group.begin(), group.end())) continue;
      if (layout_.order.empty()) {
        layout_.order.resize(spans.size());
        std::iota(layout_.order.begin(), layout_.order.end(), 0);
      }
      places.assign(group.begin(), group.end());
      std::sort(places.begin(), places.end());
      for (std::size_t i = 0; i < group.size(); ++i) layout_.order[places[i]] = group[i];
    }
  }
}

Layout Arrangement::make() {
  layout_.track_of_unit.assign(profile_.units.size() + 1, 0);
  for (std::uint32_t unit = 0; unit < profile_.units.size(); ++unit) add_unit(UnitId(unit));
  add_unknown_unit();
  for (std::uint32_t unit = 0; unit < layout_.track_of_unit.size(); ++unit) {
    add_lanes(UnitId(unit), layout_.track_of_unit[unit]);
  }
  order_equal_starts();
  return std::move(layout_);
}

}  // namespace

std::uint32_t LanePlacer::place(Interval slice) {
  const bool is_empty = slice.begin == slice.end;
  for (std::uint32_t lane = 0; lane < open_ends_.size(); ++lane) {
    auto& ends = open_ends_[lane];
    while (!ends.empty() && ends.back() <= slice.begin) ends.pop_back();
    if (!ends.empty() && ends.back() < slice.end) continue;
    if (is_empty && empty_at_[lane] == slice.begin) continue;
    ends.push_back(slice.end);
    if (is_empty) empty_at_[lane] = slice.begin;
    return lane;
  }
  if (open_ends_.size() < max_nesting) {
    open_ends_.push_back({slice.end});
    empty_at_.push_back(is_empty ? slice.begin : std::numeric_limits<std::int64_t>::min());
    return count_++;
  }
  if (is_empty) return 0;
  std::uint32_t lane = count_;
  if (!beyond_.empty() && beyond_.front().first <= slice.begin) {
    std::pop_heap(beyond_.begin(), beyond_.end(), std::greater<>());
    lane = beyond_.back().second;
    beyond_.pop_back();
  } else {
    count_ += 1;
  }
  beyond_.push_back({slice.end, lane});
  std::push_heap(beyond_.begin(), beyond_.end(), std::greater<>());
  return lane;
}

std::uint32_t Layout::track(const Profile& profile, std::size_t row) const {
  return track_of_span.empty() ? track(profile.spans.unit[row]) : track_of_span[row];
}

std::uint32_t Layout::track(UnitId unit) const {
  return track_of_unit[std::min<std::size_t>(index_of(unit), track_of_unit.size() - 1)];
}

Layout lay_out(const Profile& profile, const RowsByUnit& by_unit) {
  return Arrangement(profile, by_unit).make();
}

std::uint32_t add_process(Layout& layout, const std::string& name, std::uint32_t tracks) {
  std::uint64_t id = 1;
  const auto is_used = [&] {
    const std::string text = fmt::format("{}", id);
    return std::any_of(layout.tracks.begin(), layout.tracks.end(),
                       [&](const Track& track) { return track.process == text; });
  };
  while (is_used()) ++id;
  const auto first = std::uint32_t(layout.tracks.size());
  for (std::uint32_t i = 0; i < tracks; ++i) {
    Track track;
    track.process = fmt::format("{}", id);
    track.thread = fmt::format("{}", i + 1);
    track.process_name = name;
    track.thread_name = i == 0 ? name : fmt::format("{} ({})", name, i + 1);
    track.names_process = i == 0;
    layout.tracks.push_back(std::move(track));
  }
  return first;
}

Interval nanoseconds_of(const Nanoseconds& nanoseconds, const Spans& spans, std::size_t row) {
  const Interval ticks = interval_of(spans, row);
  return {nanoseconds.of(ticks.begin), nanoseconds.of(ticks.end)};
}

std::span<const std::uint32_t> NestingOrder::of(std::span<const std::uint32_t> rows) {
  if (!nanoseconds_.merges()) return rows;
  sorted_.assign(rows.begin(), rows.end());
  const auto key = [&](std::uint32_t row) {
    const Interval slice = nanoseconds_of(nanoseconds_, spans_, row);
    return std::pair(slice.begin, -slice.end);
  };
  std::stable_sort(sorted_.begin(), sorted_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  return sorted_;
}

namespace {

// A slice that is open, and up to where what is nested in it covers it.
struct Open {
  std::uint32_t row = 0;
  std::int64_t end = 0;
  std::int64_t covered = 0;
};

// The anchors of the slices of one track, which come by start, the longer first.
class AnchorFinder {
 public:
  AnchorFinder(std::vector<Anchor>& anchors, std::vector<bool>& found)
      : anchors_(&anchors), found_(&found) {}

  void add(std::uint32_t row, Interval slice) {
    close(slice.begin);
    if (slice.begin == slice.end) {
      (*anchors_)[row].stays = false;
      if (!open_.empty() && (*anchors_)[open_.back().row].start == slice.begin) {
        (*anchors_)[open_.back().row].stays = false;
      }
      return;
    }
    if (!open_.empty()) {
      Open& around = open_.back();
      mark_free_part(around, slice.begin);
      around.covered = std::max(around.covered, slice.end);
      Anchor& outer = (*anchors_)[around.row];
      if (outer.start == slice.begin) outer.holds_at_start = false;
    }
    open_.push_back({row, slice.end, slice.begin});
  }
  void finish() { close(std::numeric_limits<std::int64_t>::max()); }

 private:
  void close(std::int64_t until) {
    while (!open_.empty() && open_.back().end <= until) {
      mark_free_part(open_.back(), open_.back().end);
      open_.pop_back();
    }
  }
  void mark_free_part(const Open& open, std::int64_t until) {
    if (open.covered >= until) return;
    Anchor& anchor = (*anchors_)[open.row];
    if (!(*found_)[open.row]) anchor.first = open.covered;
    anchor.last = until - 1;
    (*found_)[open.row] = true;
  }

  std::vector<Anchor>* anchors_;
  std::vector<bool>* found_;
  std::vector<Open> open_;
};

}  // namespace

std::vector<Anchor> anchors_of(const Profile& profile, const RowsByUnit& by_unit,
                               const Layout& layout, const Nanoseconds& nanoseconds,
                               const std::vector<bool>& wanted) {
  const Spans& spans = profile.spans;
  std::vector<Anchor> anchors(spans.size());
  std::vector<bool> found(spans.size(), false);
  NestingOrder nesting(spans, nanoseconds);
  for (std::size_t unit = 0; unit <= profile.units.size(); ++unit) {
    const auto rows = nesting.of(by_unit.of(UnitId(std::uint32_t(unit))));
    const bool any = std::any_of(rows.begin(), rows.end(), [&](auto row) { return wanted[row]; });
    if (!any) continue;
    std::map<std::uint32_t, AnchorFinder> tracks;
    for (const std::uint32_t row : rows) {
      const Interval slice = nanoseconds_of(nanoseconds, spans, row);
      anchors[row] = {slice.begin, slice.begin, slice.begin, true, true};
      if (spans.kind[row] == SpanKind::async) continue;
      const bool is_instant = spans.kind[row] == SpanKind::instant;
      const std::uint32_t track =
          is_instant ? layout.track(spans.unit[row]) : layout.track(profile, row);
      const auto [finder, is_new] = tracks.try_emplace(track, anchors, found);
      finder->second.add(row, is_instant ? Interval{slice.begin, slice.begin} : slice);
    }
    for (auto& [track, finder] : tracks) finder.finish();
  }
  return anchors;
}

}  // namespace npuscope::chrome
