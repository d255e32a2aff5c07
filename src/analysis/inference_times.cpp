#include "analysis/inference_times.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/parallel.hpp"
#include "base/per_thread.hpp"

namespace npuscope::analysis {

namespace {

// What a span of a kind is part of, as bits: the compiler keeps them in a register.
constexpr unsigned of_wall = 1, of_work = 2, is_overlay = 4;
constexpr auto parts_of_kinds = [] {
  std::array<std::uint8_t, span_kind_count> parts{};
  for (std::size_t kind = 0; kind < span_kind_count; ++kind) {
    const Role role = role_of(SpanKind(kind));
    parts[kind] =
        std::uint8_t((is_of_inference(SpanKind(kind)) ? of_wall : 0) |
                     (role == Role::work ? of_work : 0) | (role == Role::overlay ? is_overlay : 0));
  }
  return parts;
}();

// No branch: which kinds follow one another cannot be foretold.
void extend_if(bool is_part, Interval& interval, const Interval& by) {
  interval.begin = std::min(interval.begin, is_part ? by.begin : no_extent.begin);
  interval.end = std::max(interval.end, is_part ? by.end : no_extent.end);
}

// Of the same inference.
void unite_with(InferenceExtent& into, const InferenceExtent& other) {
  into.first_row = std::min(into.first_row, other.first_row);
  into.rows_end = std::max(into.rows_end, other.rows_end);
  into.runs = into.runs || other.runs;
  into.works = into.works || other.works;
  extend_by(into.wall, other.wall);
  extend_by(into.work, other.work);
}

// Sorts them and makes one of those of the same inference.
void unite_extents(std::vector<InferenceExtent>& extents) {
  if (!std::ranges::is_sorted(extents, {}, &InferenceExtent::number)) {
    std::ranges::sort(extents, {}, &InferenceExtent::number);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (kept == 0 || extents[kept - 1].number != extents[i].number) {
      extents[kept++] = extents[i];
      continue;
    }
    unite_with(extents[kept - 1], extents[i]);
  }
  extents.resize(kept);
}

// Of some rows, by one thread.
class ExtentsOfRows {
 public:
  std::vector<InferenceExtent> inferences;
  Interval overlay = no_extent;

  void look(const Spans& spans, RowRange rows) {
    for (std::size_t row = rows.first; row < rows.last;) {
      const InferenceExtent extent = look_at_one(spans, {row, rows.last});
      add(extent);
      row = extent.rows_end;
    }
    inferences.insert(inferences.end(), others_.begin(), others_.end());
    unite_extents(inferences);
    others_ = {};
  }

 private:
  // Rows of several inferences may take turns. Their numbers are mostly small.
  void add(const InferenceExtent& extent) {
    if (extent.number < few) {
      if (place_of_.empty()) place_of_.assign(few, none);
      std::uint32_t& place = place_of_[extent.number];
      if (place != none) return unite_with(inferences[place], extent);
      place = std::uint32_t(inferences.size());
      inferences.push_back(extent);
      return;
    }
    if (others_.size() == limit_) {
      unite_extents(others_);
      limit_ = std::max(limit_, 2 * others_.size());
    }
    others_.push_back(extent);
  }

  // As many of the rows as are of the inference of the first.
  InferenceExtent look_at_one(const Spans& spans, RowRange rows) {
    const bool tells = spans.instance.size() == spans.size();
    const std::uint32_t number = tells ? spans.instance[rows.first] : 0;
    Interval wall = no_extent, work = no_extent;
    std::size_t row = rows.first;
    for (; row < rows.last; ++row) {
      if (tells && spans.instance[row] != number) break;
      const unsigned parts = parts_of_kinds[std::size_t(spans.kind[row])];
      const Interval interval = interval_of(spans, row);
      extend_if((parts & of_wall) != 0, wall, interval);
      extend_if((parts & of_work) != 0, work, interval);
      if ((parts & is_overlay) != 0) extend_by(overlay, interval);
    }
    const auto is_any = [](Interval interval) { return interval.begin <= interval.end; };
    return {number, std::uint32_t(rows.first), std::uint32_t(row), is_any(wall), is_any(work), wall,
            work};
  }

  static constexpr std::uint32_t few = 4'096, none = ~std::uint32_t{0};
  std::vector<std::uint32_t> place_of_;  // by number, of the first few
  std::vector<InferenceExtent> others_;
  std::size_t limit_ = 4'096;
};

}  // namespace

SpanExtents extents_of(const Profile& profile) {
  SpanExtents extents;
  const Spans& spans = profile.spans;
  if (spans.size() == 0) return extents;
  const std::vector<RowRange> ranges = ranges_of(spans.size());
  std::vector<ExtentsOfRows> parts(ranges.size());
  parallel_for(parts.size(), [&](std::size_t part) { parts[part].look(spans, ranges[part]); });
  Interval ran = no_extent, overlay = no_extent;
  for (ExtentsOfRows& part : parts) {
    extend_by(overlay, part.overlay);
    extents.inferences.insert(extents.inferences.end(), part.inferences.begin(),
                              part.inferences.end());
    part = {};
  }
  unite_extents(extents.inferences);
  for (const InferenceExtent& inference : extents.inferences) {
    extend_by(ran, inference.wall);
    extents.works = extents.works || inference.works;
  }
  const auto is_none = [](Interval interval) { return interval.begin > interval.end; };
  extents.timeline = !is_none(ran) ? ran : !is_none(overlay) ? overlay : Interval{};
  if (spans.instance.size() != spans.size()) extents.inferences.clear();
  return extents;
}

Interval timeline_of(const Profile& profile) { return extents_of(profile).timeline; }

Inferences::Inferences(const Analysis& analysis, std::uint32_t only, std::size_t max)
    : spans_(analysis.profile().spans) {
  for (const InferenceExtent& inference : analysis.extents().inferences) {
    if (inference.number != every_instance) ids_.push_back(inference.number);
  }
  if (const auto& others = spans_.other_instances; !others.empty()) {
    ids_.insert(ids_.end(), others.begin(), others.end());
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }
  one_ = ids_.size() < 2 || ids_.size() > max;
  if (one_) {
    ids_.assign(1, ids_.size() == 1 && only == 0 ? ids_.front() : only);
    return;
  }
  if (ids_.back() < 4 * max) {
    place_.assign(std::size_t{ids_.back()} + 1, none);
    for (std::uint32_t i = 0; i < ids_.size(); ++i) place_[ids_[i]] = i;
  }
}

namespace {

constexpr std::size_t waits = engine_count;  // a further class: what waits
constexpr std::size_t classes = engine_count + 1;

// What ran in a stretch of time, of an inference and a class.
struct Stretch {
  std::uint32_t key = 0;  // inference * classes + class
  Interval interval;
};

// What one unit did: its stretches, and how long it was busy with each key.
struct OfUnit {
  std::vector<Stretch> stretches;
  std::vector<std::pair<std::uint32_t, std::int64_t>> busy;
};

// The union of each inference's and class's spans on one unit, as they come by their starts.
class UnitSweep {
 public:
  // Of a key while its unit is gone through.
  struct Open {
    Interval interval;
    std::int64_t busy = 0;  // before the interval
  };

  // `open` is of the thread, as there may be many keys; all empty between two units.
  UnitSweep(std::vector<Open>& open, std::size_t keys, bool keeps_stretches, OfUnit& out)
      : open_(open), keeps_stretches_(keeps_stretches), out_(out) {
    if (open_.size() < keys) open_.resize(keys);
  }

  void add(std::uint32_t key, Interval interval) {
    if (interval.begin >= interval.end) return;
    Open& open = open_[key];
    if (open.interval.begin == open.interval.end) {
      touched_.push_back(key);
    } else if (interval.begin <= open.interval.end) {
      open.interval.end = std::max(open.interval.end, interval.end);
      return;
    } else {
      close(key, open);
    }
    open.interval = interval;
  }

  void finish() {
    for (const std::uint32_t key : touched_) {
      close(key, open_[key]);
      out_.busy.push_back({key, open_[key].busy});
      open_[key] = {};
    }
  }

 private:
  void close(std::uint32_t key, Open& open) {
    if (keeps_stretches_) out_.stretches.push_back({key, open.interval});
    open.busy = saturating_add(open.busy, length_of(open.interval));
  }

  std::vector<Open>& open_;
  bool keeps_stretches_;
  std::vector<std::uint32_t> touched_;
  OfUnit& out_;
};

class Sweep {
 public:
  Sweep(const Analysis& analysis, const Inferences& inferences, bool only_busiest)
      : analysis_(analysis),
        profile_(analysis.profile()),
        only_busiest_(only_busiest),
        inferences_(inferences),
        by_unit_(analysis.spans_by_unit()),
        times_(inferences.count()),
        units_(profile_.units.size() + 1) {}

  std::vector<InferenceTimes> finish();

 private:
  void take_rows();
  void take_extents();
  void sweep_unit(std::size_t unit);
  void find_busiest();
  std::vector<IntervalSet> unions_of_keys();

  const Analysis& analysis_;
  const Profile& profile_;
  bool only_busiest_;
  const Inferences& inferences_;
  const SpansByUnit& by_unit_;
  std::vector<InferenceTimes> times_;
  PerThread<std::vector<UnitSweep::Open>> open_;
  std::vector<OfUnit> units_;
};

// Extent of each inference.
void Sweep::take_extents() {
  const auto& extents = analysis_.inference_extents();
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const auto found = extents.find(inferences_.ids()[i]);
    if (found != extents.end()) times_[i].extent = found->second;
  }
}

// The same, and work.
void Sweep::take_rows() {
  const SelfTimes& own = analysis_.self_times();
  const Spans& spans = profile_.spans;
  std::vector<bool> has_extent(inferences_.count(), false);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const std::uint32_t inference = inferences_.of(row);
    const Role role = role_of(spans.kind[row]);
    if (inference == Inferences::none) continue;
    InferenceTimes& times = times_[inference];
    if (role == Role::work) times.work = saturating_add(times.work, own[row]);
    if (!is_of_inference(spans.kind[row])) continue;
    const Interval interval = interval_of(spans, row);
    if (!has_extent[inference]) times.extent = interval;
    has_extent[inference] = true;
    times.extent.begin = std::min(times.extent.begin, interval.begin);
    times.extent.end = std::max(times.extent.end, interval.end);
  }
}

void Sweep::sweep_unit(std::size_t unit) {
  UnitSweep sweep(open_.mine(), inferences_.count() * classes, !only_busiest_, units_[unit]);
  const auto id = UnitId(std::uint32_t(unit));
  for (const SpanOfUnit& span : by_unit_.spans_of(id)) {
    const Role role = role_of(span.kind);
    if (role != Role::work && (role != Role::wait || only_busiest_)) continue;
    const std::uint32_t inference = inferences_.of(span);
    if (inference == Inferences::none) continue;
    const std::size_t of = role == Role::wait ? waits : std::size_t(engine_of(profile_, id, span));
    sweep.add(std::uint32_t(inference * classes + of), span.interval());
  }
  sweep.finish();
}

void Sweep::find_busiest() {
  for (const OfUnit& unit : units_) {
    for (const auto& [key, busy] : unit.busy) {
      if (key % classes == waits) continue;
      std::int64_t& busiest = times_[key / classes].engines[key % classes].busiest;
      busiest = std::max(busiest, busy);
    }
  }
}

// The stretches of all units together, by key (a counting sort).
std::vector<IntervalSet> Sweep::unions_of_keys() {
  const std::size_t keys = inferences_.count() * classes;
  std::vector<std::uint32_t> count(keys, 0);
  for (const OfUnit& unit : units_) {
    for (const Stretch& stretch : unit.stretches) count[stretch.key] += 1;
  }
  std::vector<IntervalSet> sets(keys);
  for (std::size_t key = 0; key < keys; ++key) sets[key].reserve(count[key]);
  for (OfUnit& unit : units_) {
    for (const Stretch& stretch : unit.stretches) sets[stretch.key].push_back(stretch.interval);
    unit.stretches = {};
  }
  parallel_for(keys, [&](std::size_t key) { sets[key] = union_of(std::move(sets[key])); });
  return sets;
}

std::vector<InferenceTimes> Sweep::finish() {
  parallel_for(units_.size() + 1, [&](std::size_t i) {
    if (i == 0) {
      only_busiest_ ? take_extents() : take_rows();
    } else {
      sweep_unit(i - 1);
    }
  });
  find_busiest();
  if (inferences_.count() == 1) times_[0].extent = analysis_.timeline_extent();
  if (only_busiest_) return std::move(times_);
  std::vector<IntervalSet> sets = unions_of_keys();
  parallel_for(times_.size(), [&](std::size_t inference) {
    InferenceTimes& times = times_[inference];
    const IntervalSet* of = sets.data() + inference * classes;
    IntervalSet active;
    for (std::size_t engine = 0; engine < engine_count; ++engine) {
      times.engines[engine].active = length_of(of[engine]);
      if (!of[engine].empty()) active = union_of(active, of[engine]);
    }
    times.active = length_of(active);
    times.waiting = length_of(difference_of(of[waits], active));
    times.idle = length_of(gaps_in(union_of(active, of[waits]), times.extent));
  });
  return std::move(times_);
}

}  // namespace

std::vector<InferenceTimes> inference_times(const Analysis& analysis,
                                            const Inferences& inferences) {
  return Sweep(analysis, inferences, false).finish();
}

std::vector<InferenceTimes> busiest_of_inferences(const Analysis& analysis,
                                                  const Inferences& inferences) {
  return Sweep(analysis, inferences, true).finish();
}

}  // namespace npuscope::analysis
