#include "analysis/inference_times.hpp"

#include <algorithm>

#include "npuscope/base/parallel.hpp"

namespace npuscope::analysis {

Inferences::Inferences(const Profile& profile, std::uint32_t only, std::size_t most)
    : spans_(profile.spans) {
  if (spans_.instance.size() == spans_.size()) {
    std::uint32_t last = every_instance;
    for (const std::uint32_t id : spans_.instance) {
      if (id != last && id != every_instance) ids_.push_back(id);
      last = id;
      if (ids_.size() > 4 * most) {  // out of order, or too many
        std::sort(ids_.begin(), ids_.end());
        ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
        if (ids_.size() > most) break;
      }
    }
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }
  one_ = ids_.size() < 2 || ids_.size() > most;
  if (one_) {
    ids_.assign(1, ids_.size() == 1 && only == 0 ? ids_.front() : only);
    return;
  }
  if (ids_.back() < 4 * most) {
    place_.assign(std::size_t{ids_.back()} + 1, none);
    for (std::uint32_t i = 0; i < ids_.size(); ++i) place_[ids_[i]] = i;
  }
}

std::uint32_t Inferences::place_of(std::uint32_t id) const {
  if (id == every_instance) return none;
  if (!place_.empty()) return place_[id];
  return std::uint32_t(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
}

std::uint32_t Inferences::of(std::size_t row) const {
  return one_ ? 0 : place_of(spans_.instance[row]);
}

namespace {

constexpr std::size_t waits = engine_count;  // a further class: what waits
constexpr std::size_t classes = engine_count + 1;

// What ran in a stretch of time, of an inference and a class.
struct Stretch {
  std::uint32_t key = 0;  // inference * classes + class
  Interval interval;
};

// The union of each inference's and class's spans on one unit, as they come by their starts.
class UnitSweep {
 public:
  UnitSweep(std::size_t keys, std::vector<Stretch>& out) : open_(keys), out_(out) {}

  void add(std::uint32_t key, Interval interval) {
    if (interval.begin >= interval.end) return;
    Interval& open = open_[key];
    if (open.begin < open.end && interval.begin <= open.end) {
      open.end = std::max(open.end, interval.end);
      return;
    }
    if (open.begin < open.end) {
      out_.push_back({key, open});
    } else {
      touched_.push_back(key);
    }
    open = interval;
  }

  void finish() {
    for (const std::uint32_t key : touched_) {
      out_.push_back({key, open_[key]});
      open_[key] = {};
    }
    touched_.clear();
  }

 private:
  std::vector<Interval> open_;
  std::vector<std::uint32_t> touched_;
  std::vector<Stretch>& out_;
};

class Sweep {
 public:
  Sweep(const Profile& profile, const Inferences& inferences, const SpansByUnit& by_unit,
        const std::vector<std::int64_t>& own)
      : profile_(profile),
        inferences_(inferences),
        by_unit_(by_unit),
        own_(own),
        times_(inferences.count()),
        has_extent_(inferences.count(), false) {}

  std::vector<InferenceTimes> finish();

 private:
  void sweep_units();
  void take(std::size_t row);
  void end_unit(std::size_t first);
  std::vector<IntervalSet> unions_of_keys();

  const Profile& profile_;
  const Inferences& inferences_;
  const SpansByUnit& by_unit_;
  const std::vector<std::int64_t>& own_;
  std::vector<InferenceTimes> times_;
  std::vector<bool> has_extent_;
  std::vector<Stretch> stretches_;
};

// Time, inference and work of one span.
void Sweep::take(std::size_t row) {
  const std::uint32_t inference = inferences_.of(row);
  const SpanKind kind = profile_.spans.kind[row];
  if (inference == Inferences::none) return;
  InferenceTimes& times = times_[inference];
  if (role_of(kind) == Role::work) times.work = saturating_add(times.work, own_[row]);
  if (kind == SpanKind::activation || role_of(kind) == Role::overlay) return;
  const Interval interval = interval_of(profile_.spans, row);
  if (!has_extent_[inference]) {
    times.extent = interval;
    has_extent_[inference] = true;
  } else {
    times.extent.begin = std::min(times.extent.begin, interval.begin);
    times.extent.end = std::max(times.extent.end, interval.end);
  }
}

// The busiest unit of each class, from the stretches of the unit that is done.
void Sweep::end_unit(std::size_t first) {
  std::vector<std::pair<std::uint32_t, std::int64_t>> lengths;
  for (std::size_t i = first; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    if (lengths.empty() || lengths.back().first != stretch.key) lengths.push_back({stretch.key, 0});
    lengths.back().second = saturating_add(lengths.back().second, length_of(stretch.interval));
  }
  std::sort(lengths.begin(), lengths.end());
  for (std::size_t i = 0; i < lengths.size();) {
    const std::uint32_t key = lengths[i].first;
    std::int64_t busy = 0;
    for (; i < lengths.size() && lengths[i].first == key; ++i) {
      busy = saturating_add(busy, lengths[i].second);
    }
    if (key % classes == waits) continue;
    std::int64_t& busiest = times_[key / classes].engines[key % classes].busiest;
    busiest = std::max(busiest, busy);
  }
}

void Sweep::sweep_units() {
  UnitSweep unit_sweep(inferences_.count() * classes, stretches_);
  for (std::size_t unit = 0; unit <= profile_.units.size(); ++unit) {
    const std::size_t first = stretches_.size();
    for (const std::uint32_t row : by_unit_.of(UnitId(std::uint32_t(unit)))) {
      take(row);
      const Role role = role_of(profile_.spans.kind[row]);
      const std::uint32_t inference = inferences_.of(row);
      if ((role != Role::work && role != Role::wait) || inference == Inferences::none) continue;
      const std::size_t of = role == Role::wait ? waits : std::size_t(engine_of(profile_, row));
      unit_sweep.add(std::uint32_t(inference * classes + of), interval_of(profile_.spans, row));
    }
    unit_sweep.finish();
    end_unit(first);
  }
}

// The stretches of all units together, by key (a counting sort).
std::vector<IntervalSet> Sweep::unions_of_keys() {
  const std::size_t keys = inferences_.count() * classes;
  std::vector<std::uint32_t> count(keys, 0);
  for (const Stretch& stretch : stretches_) count[stretch.key] += 1;
  std::vector<IntervalSet> sets(keys);
  for (std::size_t key = 0; key < keys; ++key) sets[key].reserve(count[key]);
  for (const Stretch& stretch : stretches_) sets[stretch.key].push_back(stretch.interval);
  stretches_ = {};
  parallel_for(keys, [&](std::size_t key) { sets[key] = union_of(std::move(sets[key])); });
  return sets;
}

std::vector<InferenceTimes> Sweep::finish() {
  sweep_units();
  std::vector<IntervalSet> sets = unions_of_keys();
  if (inferences_.count() == 1) times_[0].extent = timeline_of(profile_);
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

std::vector<InferenceTimes> inference_times(const Profile& profile, const Inferences& inferences,
                                            const SpansByUnit& by_unit,
                                            const std::vector<std::int64_t>& own) {
  return Sweep(profile, inferences, by_unit, own).finish();
}

}  // namespace npuscope::analysis
