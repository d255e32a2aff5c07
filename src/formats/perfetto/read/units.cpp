// Tracks become units, a tree: processes, their threads, and other tracks where they name a parent.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "formats/perfetto/read/trace_reader.hpp"
#include "ingest/lanes.hpp"
#include "profile/number_names.hpp"
#include "profile/unit_processes.hpp"

namespace npuscope::perfetto {
namespace {

class UnitTree {
 public:
  UnitTree(Profile& profile, Tracks& tracks, Defects& defects)
      : profile_(profile), tracks_(tracks), defects_(defects) {}

  void build() {
    choose_representatives();
    find_parents();
    cut_cycles();
    choose_units();
    name_by_first_events();
    number_units();
    number_namesakes(profile_);
  }
  // none where the track has no unit of its own.
  std::uint32_t unit_of(std::uint32_t track) const { return unit_[representative_[track]]; }
  // The nearest unit above a track.
  std::uint32_t unit_above(std::uint32_t track) const {
    std::uint32_t at = parent_[representative_[track]];
    while (at != none && unit_[at] == none) at = parent_[at];
    return at == none ? none : unit_[at];
  }
  bool may_overlap(std::uint32_t track) const {
    return tracks_[representative_[track]].may_overlap;
  }

 private:
  void choose_representatives();
  void merge(const Track& from, Track& into);
  void find_parents();
  void cut_cycles();
  void choose_units();
  void name_by_first_events();
  void number_units();
  void sort_children(std::vector<std::uint32_t>& children, ChildOrdering ordering) const;
  Unit make_unit(const Track& track);

  Profile& profile_;
  Tracks& tracks_;
  Defects& defects_;
  std::map<std::int32_t, std::uint32_t> processes_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::uint32_t> threads_;
  std::vector<std::uint32_t> representative_;  // several tracks can be of one process or thread
  std::vector<std::uint32_t> parent_;          // of representatives
  std::vector<bool> is_unit_;
  std::vector<std::uint32_t> unit_;
};

// By what the tracks are in the end: a descriptor may come late, again, or break off.
void UnitTree::choose_representatives() {
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    const Track& of = tracks_[track];
    if (of.is_counter) continue;
    if (of.kind == Track::Kind::process) processes_.try_emplace(of.pid, track);
    if (of.kind == Track::Kind::thread) threads_.try_emplace({of.pid, of.tid}, track);
  }
  // A thread has a process even if no descriptor says so, and a counter of a thread has a thread.
  const std::uint32_t described = tracks_.size();
  for (std::uint32_t track = 0; track < described; ++track) {
    const auto [kind, pid, tid] =
        std::tuple(tracks_[track].kind, tracks_[track].pid, tracks_[track].tid);
    if (kind == Track::Kind::plain) continue;
    if (!processes_.contains(pid)) processes_[pid] = tracks_.add_process(pid);
    const bool lacks_thread = kind == Track::Kind::thread && !threads_.contains({pid, tid});
    if (lacks_thread) threads_[{pid, tid}] = tracks_.add_thread(pid, tid);
  }
  representative_.resize(tracks_.size());
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    const Track& of = tracks_[track];
    std::uint32_t representative = track;
    if (!of.is_counter && of.kind == Track::Kind::process) representative = processes_[of.pid];
    if (!of.is_counter && of.kind == Track::Kind::thread) {
      representative = threads_[{of.pid, of.tid}];
    }
    representative_[track] = representative;
    if (representative != track) merge(of, tracks_[representative]);
  }
}

void UnitTree::merge(const Track& from, Track& into) {
  const auto take = [](StringId name, StringId& missing) {
    if (missing == StringId{}) missing = name;
  };
  take(from.name, into.name);
  take(from.process_name, into.process_name);
  take(from.thread_name, into.thread_name);
  take(from.chrome_name, into.chrome_name);
  take(from.description, into.description);
  if (!into.has_uuid) {
    into.ordering = from.ordering;
    into.rank = from.rank;
    into.has_parent = from.has_parent;
    into.parent_uuid = from.parent_uuid;
    into.has_uuid = from.has_uuid;
  }
  into.may_overlap |= from.may_overlap || (from.has_rows && into.has_rows);
  into.has_rows |= from.has_rows;
  into.first_time = std::min(into.first_time, from.first_time);
}

void UnitTree::find_parents() {
  parent_.assign(tracks_.size(), none);
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    if (representative_[track] != track) continue;
    const Track& of = tracks_[track];
    std::uint32_t parent = none;
    if (of.kind == Track::Kind::thread) {
      parent = of.is_counter ? threads_[{of.pid, of.tid}] : processes_[of.pid];
    } else if (of.is_counter && of.kind == Track::Kind::process) {
      parent = processes_[of.pid];
    }
    if (parent == track) parent = none;
    if (parent == none && of.has_parent && of.parent_uuid != 0) {
      parent = tracks_.find_uuid(of.parent_uuid);
      if (parent == none) defects_.add_without_place(Defect::parent_missing);
    }
    if (parent != none) parent = representative_[parent];
    parent_[track] = parent;
  }
}

void UnitTree::cut_cycles() {
  enum : std::uint8_t { fresh, on_path, done };
  std::vector<std::uint8_t> state(parent_.size(), fresh);
  std::vector<std::uint32_t> path;
  for (std::uint32_t track = 0; track < parent_.size(); ++track) {
    path.clear();
    std::uint32_t at = track;
    while (at != none && state[at] == fresh) {
      state[at] = on_path;
      path.push_back(at);
      at = parent_[at];
    }
    if (at != none && state[at] == on_path) {
      defects_.add_without_place(Defect::parent_cycle);
      parent_[at] = none;
    }
    for (const std::uint32_t seen : path) state[seen] = done;
  }
}

// Counter tracks are series, not units, unless something else lies on or under them; a track that
// nothing describes and nothing lies on is none.
void UnitTree::choose_units() {
  is_unit_.assign(tracks_.size(), false);
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    if (representative_[track] != track) continue;
    const Track& of = tracks_[track];
    const bool is_known = of.described || of.kind != Track::Kind::plain;
    is_unit_[track] = of.has_rows || (is_known && !of.is_counter);
    if (of.has_rows && !of.described && of.kind == Track::Kind::plain && of.uuid != 0) {
      defects_.add_without_place(Defect::track_without_descriptor);
    }
  }
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    if (representative_[track] != track || !is_unit_[track]) continue;
    for (std::uint32_t at = parent_[track]; at != none && !is_unit_[at]; at = parent_[at]) {
      is_unit_[at] = true;
    }
  }
}

// A track without a name has that of its first event.
void UnitTree::name_by_first_events() {
  const auto lacks_name = [&](std::uint32_t track) {
    const Track& of = tracks_[track];
    return is_unit_[track] && of.has_rows && of.kind == Track::Kind::plain &&
           of.name == StringId{} && of.uuid != 0;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> first;  // rows
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    if (lacks_name(track)) first.emplace(track, none);
  }
  if (first.empty()) return;
  const Spans& spans = profile_.spans;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const auto found = first.find(representative_[index_of(spans.unit[row])]);
    if (found == first.end()) continue;
    if (found->second == none || spans.start[row] < spans.start[found->second]) found->second = row;
  }
  for (const auto& [track, row] : first) {
    if (row == none || index_of(spans.op[row]) >= profile_.ops.size()) continue;
    tracks_[track].name = profile_.ops[index_of(spans.op[row])].name;
  }
}

void UnitTree::sort_children(std::vector<std::uint32_t>& children, ChildOrdering ordering) const {
  const auto sort_by = [&](auto key) {
    std::stable_sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
      return key(tracks_[a]) < key(tracks_[b]);
    });
  };
  switch (ordering) {
    case ChildOrdering::lexicographic:
      return sort_by([&](const Track& track) { return profile_.strings[track.name]; });
    case ChildOrdering::chronological:
      return sort_by([](const Track& track) { return track.first_time; });
    case ChildOrdering::explicit_rank:
      return sort_by([](const Track& track) { return track.rank; });
    case ChildOrdering::unspecified: break;
  }
}

void UnitTree::number_units() {
  std::vector<std::vector<std::uint32_t>> children(tracks_.size());
  std::vector<std::uint32_t> waiting;  // the next to be numbered last
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    if (!is_unit_[track]) continue;
    if (parent_[track] != none) children[parent_[track]].push_back(track);
    if (parent_[track] == none) waiting.push_back(track);
  }
  // Roots are ordered by rank, where they have one, as children of the trace.
  std::stable_sort(waiting.begin(), waiting.end(), [&](std::uint32_t a, std::uint32_t b) {
    return tracks_[a].rank < tracks_[b].rank;
  });
  std::reverse(waiting.begin(), waiting.end());
  unit_.assign(tracks_.size(), none);
  while (!waiting.empty()) {
    const std::uint32_t track = waiting.back();
    waiting.pop_back();
    unit_[track] = std::uint32_t(profile_.units.size());
    profile_.units.push_back(make_unit(tracks_[track]));
    if (parent_[track] != none) profile_.units.back().parent = UnitId(unit_[parent_[track]]);
    sort_children(children[track], tracks_[track].ordering);
    waiting.insert(waiting.end(), children[track].rbegin(), children[track].rend());
  }
}

Unit UnitTree::make_unit(const Track& track) {
  StringPool& strings = profile_.strings;
  Unit unit;
  unit.name = track.name;
  switch (track.kind) {
    case Track::Kind::process:
      unit.engine = Engine::process;
      unit.process_id = strings.intern(fmt::format("{}", track.pid));
      unit.name = strings.intern(fmt::format("Process {}", track.pid));
      for (const StringId name : {track.chrome_name, track.name, track.process_name}) {
        if (name != StringId{}) unit.name = name;
      }
      break;
    case Track::Kind::thread:
      unit.engine = Engine::thread;
      unit.process_id = strings.intern(fmt::format("{}", track.pid));
      unit.thread_id = strings.intern(fmt::format("{}", track.tid));
      unit.name = strings.intern(fmt::format("Thread {}", track.tid));
      for (const StringId name : {track.chrome_name, track.name, track.thread_name}) {
        if (name != StringId{}) unit.name = name;
      }
      break;
    case Track::Kind::plain:
      unit.engine = Engine::other;
      if (track.name != StringId{}) break;
      unit.name = strings.intern(track.uuid == 0 ? std::string("Default Track")
                                                 : fmt::format("Track {}", track.uuid));
      break;
  }
  return unit;
}

// The steps in which their times are stated: whole microseconds, or nanoseconds.
std::int64_t resolution_of(const Spans& spans, const std::vector<std::uint32_t>& rows) {
  constexpr std::int64_t whole = 1'000;
  const bool all_whole = std::ranges::all_of(rows, [&](std::uint32_t row) {
    return spans.start[row] % whole == 0 && spans.duration[row] % whole == 0;
  });
  return all_whole ? whole : 1;
}

// The slices of one unit, in nesting order: those that do not nest go to units next to it.
void move_to_lanes(std::span<const std::uint32_t> rows, std::int64_t resolution, Profile& profile,
                   Defects& defects) {
  Spans& spans = profile.spans;
  const UnitId unit = spans.unit[rows.front()];
  TrackLanes lanes(resolution);
  std::vector<TrackLanes::Moved> moved;
  for (const std::uint32_t row : rows) {
    const Interval interval{spans.start[row], spans.start[row] + spans.duration[row]};
    const std::uint16_t lane = lanes.place(row, interval, moved);
    if (lane > 0) moved.push_back({row, lane});
  }
  const std::uint32_t first = std::uint32_t(profile.units.size());
  for (std::uint32_t lane = 1; lane < lanes.count(); ++lane) {
    Unit next = profile.units[index_of(unit)];
    next.lane = lane;
    profile.units.push_back(next);
  }
  for (const auto& [row, lane] : moved) spans.unit[row] = UnitId(first + lane - 1);
  defects.add_without_place(Defect::overlapping_slices, moved.size());
  defects.add_without_place(Defect::outlasting_slices, lanes.outlasting());
  defects.add_without_place(Defect::early_slices, lanes.early());
}

// Slices that were not paired by begin and end, or that come from several tracks of one thread.
void move_to_lanes(Profile& profile, const std::vector<bool>& may_overlap, Defects& defects) {
  const Spans& spans = profile.spans;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    if (spans.kind[row] == SpanKind::slice && may_overlap[index_of(spans.unit[row])]) {
      rows.push_back(row);
    }
  }
  const auto order = [&](std::uint32_t row) {
    return std::tuple(index_of(spans.unit[row]), spans.start[row], -spans.duration[row]);
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return order(a) < order(b); });
  const std::int64_t resolution = resolution_of(spans, rows);
  for (std::span<const std::uint32_t> rest = rows; !rest.empty();) {
    const UnitId unit = spans.unit[rest.front()];
    std::size_t count = 1;
    while (count < rest.size() && spans.unit[rest[count]] == unit) ++count;
    move_to_lanes(rest.first(count), resolution, profile, defects);
    rest = rest.subspan(count);
  }
}

}  // namespace

void TraceReader::make_units() {
  UnitTree tree(profile_, tracks_, defects_);
  tree.build();
  for (UnitId& unit : profile_.spans.unit) unit = UnitId(tree.unit_of(index_of(unit)));
  Counters& counters = profile_.counters;
  for (std::size_t i = 0; i < counters.series.size(); ++i) {
    const std::uint32_t track = track_of_series_[i];
    CounterSeries& series = counters.series[i];
    const bool is_track = tracks_[track].series == i;
    if (is_track) series.name = tracks_[track].name;
    if (is_track) series.quantity = tracks_[track].quantity;
    series.role = role_of_counter(profile_.text(series.name));
    const bool above = is_track && tracks_[track].is_counter;
    const std::uint32_t unit = above ? tree.unit_above(track) : tree.unit_of(track);
    series.unit = UnitId(unit);
  }
  unit_descriptions_.assign(profile_.units.size(), StringId{});
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    const StringId description = tracks_[track].description;
    const std::uint32_t unit = tree.unit_of(track);
    if (description != StringId{} && unit != none) unit_descriptions_[unit] = description;
  }
  std::vector<bool> may_overlap(profile_.units.size(), false);
  bool any = false;
  for (std::uint32_t track = 0; track < tracks_.size(); ++track) {
    if (!tree.may_overlap(track) || tree.unit_of(track) == none) continue;
    may_overlap[tree.unit_of(track)] = any = true;
  }
  if (any) move_to_lanes(profile_, may_overlap, defects_);
}

}  // namespace npuscope::perfetto
