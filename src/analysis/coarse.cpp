#include "npuscope/analysis/coarse.hpp"

#include <algorithm>
#include <utility>

#include "analysis/answers.hpp"
#include "analysis/units/unit_busy.hpp"
#include "npuscope/analysis/statistics.hpp"

namespace npuscope::analysis {

const char* name_of(Part part) {
  constexpr const char* names[part_count] = {"compute alone",
                                             "compute with data movement",
                                             "data movement alone",
                                             "communication alone",
                                             "units at work",
                                             "host alone",
                                             "waiting for DMA",
                                             "other waiting",
                                             "idle"};
  return names[std::size_t(part)];
}

Spread spread_of(const std::vector<double>& samples) {
  Spread spread;
  if (samples.empty()) return spread;
  spread.count = samples.size();
  spread.first = samples.front();
  spread.min = *std::min_element(samples.begin(), samples.end());
  spread.max = *std::max_element(samples.begin(), samples.end());
  spread.median = median_of(samples);
  spread.median_of_rest =
      samples.size() == 1 ? samples.front() : median_of({samples.begin() + 1, samples.end()});
  return spread;
}

namespace {

// The union of sets that come one after another. They stay where they are: a first one is seen
// there, without a copy.
class SeenSets {
 public:
  const IntervalSet& all() const { return *all_; }
  std::int64_t length() const { return length_; }
  // How long of it none of the sets before was.
  std::int64_t add(const IntervalSet& set) {
    if (set.empty()) return 0;
    if (!all_->empty()) sum_ = union_of(*all_, set);
    all_ = all_->empty() ? &set : &sum_;
    const std::int64_t before = std::exchange(length_, length_of(*all_));
    return length_ - before;
  }

 private:
  IntervalSet sum_;
  const IntervalSet* all_ = &sum_;
  std::int64_t length_ = 0;
};

// Each less what comes before it. What two have in common is by how much they are longer than their
// union, which is there anyway.
void divide_wall(const BusyTogether& busy, Coarse& coarse) {
  const auto part = [&](Part which) -> std::int64_t& { return coarse.parts[std::size_t(which)]; };
  SeenSets seen;
  coarse.compute_active = seen.add(busy.of(Domain::compute));
  coarse.movement_active = length_of(busy.of(Domain::movement));
  coarse.host_active = length_of(busy.of(Domain::host));
  part(Part::movement_alone) = seen.add(busy.of(Domain::movement));
  part(Part::compute_and_movement) = coarse.movement_active - part(Part::movement_alone);
  part(Part::compute_alone) = coarse.compute_active - part(Part::compute_and_movement);
  coarse.communication_active = length_of(busy.of(Domain::communication));
  part(Part::communication_alone) = seen.add(busy.of(Domain::communication));
  part(Part::other_work) = seen.add(busy.of(Domain::other));
  part(Part::host_alone) = seen.add(busy.of(Domain::host));
  coarse.active = seen.length();
  part(Part::waiting_for_dma) = seen.add(busy.dma_waits);
  part(Part::other_waiting) = seen.add(busy.other_waits);
  for_each_gap(seen.all(), coarse.timeline, [&](Interval gap) {
    const std::int64_t length = length_of(gap);
    part(Part::idle) = saturating_add(part(Part::idle), length);
    coarse.gaps += 1;
    coarse.longest_gap = std::max(coarse.longest_gap, length);
  });
}

// What a sample of Cloud AI 100 is of: -stats-batchsize.
double batch_size(const Profile& profile) {
  for (const Measure& measure : profile.measures) {
    const bool of_run = measure.subject == Measure::Subject::profile;
    if (of_run && measure.meaning.role == NumberRole::stats_batch_size) return measure.value;
  }
  return 1;
}

// A summary from which the clock's rate was derived is of one inference and says its wall.
std::optional<double> inferences_per_second_told(const Profile& profile, Interval timeline) {
  const auto rate = clock_rate_during(profile, timeline);
  if (!rate || rate->origin != Origin::derived) return std::nullopt;
  for (const Measure& measure : profile.measures) {
    const bool of_run = measure.subject == Measure::Subject::profile;
    if (!of_run || measure.kind != MeasureKind::wall || !(measure.value > 0)) continue;
    if (measure.clock == profile.base_clock) return rate->rate.value / measure.value;
  }
  return std::nullopt;
}

std::optional<double> inferences_per_second(const Profile& profile, const Spread& walls,
                                            Interval timeline) {
  const auto& kinds = profile.spans.kind;
  const std::size_t base = index_of(profile.base_clock);
  if (const auto told = inferences_per_second_told(profile, timeline)) return told;
  if (std::find(kinds.begin(), kinds.end(), SpanKind::inference) == kinds.end()) return {};
  if (base >= profile.clocks.size() || !(walls.median_of_rest > 0)) return {};
  const double rate = profile.clocks[base].rate.value;
  if (!(rate > 0)) return {};
  return batch_size(profile) * rate / walls.median_of_rest;
}

}  // namespace

Spread walls_of(const std::map<std::uint32_t, Interval>& inference_extents) {
  std::vector<double> walls;
  for (const auto& [instance, extent] : inference_extents) {
    walls.push_back(double(length_of(extent)));
  }
  return spread_of(walls);
}

IntervalSet times_of(const std::map<std::uint32_t, Interval>& inference_extents) {
  std::vector<Interval> times;
  for (const auto& [instance, extent] : inference_extents) times.push_back(extent);
  return union_of(std::move(times));
}

Coarse find_coarse(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  Coarse coarse;
  coarse.timeline = analysis.timeline_extent();
  coarse.wall = length_of(coarse.timeline);
  for (const UnitBusy& unit : analysis.unit_busy()) {
    coarse.work = saturating_add(coarse.work, unit.work);
  }
  const BusyTogether& busy = analysis.busy_together();
  divide_wall(busy, coarse);
  coarse.inferences = walls_of(analysis.inference_extents());
  coarse.inferences_per_second = inferences_per_second(profile, coarse.inferences, coarse.timeline);
  return coarse;
}

}  // namespace npuscope::analysis
