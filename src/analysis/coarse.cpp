#include "npuscope/analysis/coarse.hpp"

#include <algorithm>

#include "analysis/answers.hpp"
#include "analysis/extents_by_inference.hpp"
#include "base/parallel.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "profile/append_interval.hpp"

namespace npuscope::analysis {

const char* name_of(Part part) {
  constexpr const char* names[part_count] = {"compute alone",       "compute with data movement",
                                             "data movement alone", "units at work",
                                             "host alone",          "waiting for DMA",
                                             "other waiting",       "idle"};
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

// What was active when, by what is active.
struct Activity {
  IntervalSet compute, movement, host, other, dma_waits, waits;
};

// Of all units together, and first of each alone.
struct ActivityOfUnit {
  IntervalSet of_domain[4], dma_waits, waits;
};

ActivityOfUnit activity_of(const Profile& profile, UnitId unit, std::span<const SpanOfUnit> spans) {
  ActivityOfUnit activity;
  for (const SpanOfUnit& span : spans) {
    const Role role = role_of(span.kind);
    if (role == Role::work) {
      append(activity.of_domain[std::size_t(domain_of(profile, unit, span))], span.interval());
    } else if (role == Role::wait) {
      append(span.kind == SpanKind::dma_wait ? activity.dma_waits : activity.waits,
             span.interval());
    }
  }
  if (const IntervalSet held = held_within_work(spans); !held.empty()) {
    for (IntervalSet& set : activity.of_domain) set = difference_of(set, held);
  }
  return activity;
}

Activity activity_of(const Profile& profile, const SpansByUnit& by_unit) {
  std::vector<ActivityOfUnit> units(by_unit.groups());
  parallel_for(units.size(), [&](std::size_t unit) {
    const auto id = UnitId(std::uint32_t(unit));
    units[unit] = activity_of(profile, id, by_unit.spans_of(id));
  });
  const auto of_all = [&](const auto& set_of) {
    std::vector<IntervalSet> sets;
    for (ActivityOfUnit& unit : units) sets.push_back(std::move(set_of(unit)));
    return union_of_sets(std::move(sets));
  };
  const auto of_domain = [&](Domain domain) {
    return of_all([domain](ActivityOfUnit& unit) -> IntervalSet& {
      return unit.of_domain[std::size_t(domain)];
    });
  };
  Activity activity;
  activity.compute = of_domain(Domain::compute);
  activity.movement = of_domain(Domain::movement);
  activity.host = of_domain(Domain::host);
  activity.other = of_domain(Domain::other);
  activity.dma_waits = of_all([](ActivityOfUnit& unit) -> IntervalSet& { return unit.dma_waits; });
  activity.waits = of_all([](ActivityOfUnit& unit) -> IntervalSet& { return unit.waits; });
  return activity;
}

void divide_wall(const Activity& activity, Coarse& coarse) {
  const auto part = [&](Part which) -> std::int64_t& { return coarse.parts[std::size_t(which)]; };
  const auto both = intersection_of(activity.compute, activity.movement);
  part(Part::compute_and_movement) = length_of(both);
  part(Part::compute_alone) = length_of(difference_of(activity.compute, both));
  part(Part::movement_alone) = length_of(difference_of(activity.movement, both));
  IntervalSet seen = union_of(activity.compute, activity.movement);
  const auto add = [&](Part which, const IntervalSet& set) {
    part(which) = length_of(difference_of(set, seen));
    seen = union_of(seen, set);
  };
  add(Part::other_work, activity.other);
  add(Part::host_alone, activity.host);
  coarse.active = length_of(seen);
  add(Part::waiting_for_dma, activity.dma_waits);
  add(Part::other_waiting, activity.waits);
  const IntervalSet gaps = gaps_in(seen, coarse.timeline);
  part(Part::idle) = length_of(gaps);
  coarse.gaps = gaps.size();
  for (const Interval& gap : gaps)
    coarse.longest_gap = std::max(coarse.longest_gap, length_of(gap));
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

std::map<std::uint32_t, Interval> inference_extents(const Profile& profile) {
  const auto extents = extents_by_inference(
      profile.spans, [&](std::size_t row) { return is_of_inference(profile.spans.kind[row]); });
  std::map<std::uint32_t, Interval> of_numbers(extents.begin(), extents.end());
  of_numbers.erase(every_instance);
  return of_numbers;
}

Spread inference_walls(const Profile& profile) {
  std::vector<double> walls;
  for (const auto& [instance, extent] : inference_extents(profile)) {
    walls.push_back(double(length_of(extent)));
  }
  return spread_of(walls);
}

IntervalSet inference_times_of(const Profile& profile) {
  std::vector<Interval> times;
  for (const auto& [instance, extent] : inference_extents(profile)) times.push_back(extent);
  return union_of(std::move(times));
}

Coarse find_coarse(const Analysis& analysis) {
  const Profile& profile = analysis.profile();
  const std::vector<std::int64_t>& own = analysis.self_times();
  Coarse coarse;
  coarse.timeline = timeline_of(profile);
  coarse.wall = length_of(coarse.timeline);
  for (std::size_t row = 0; row < own.size(); ++row) {
    if (role_of(profile.spans.kind[row]) == Role::work) {
      coarse.work = saturating_add(coarse.work, own[row]);
    }
  }
  const Activity activity = activity_of(profile, analysis.spans_by_unit());
  coarse.compute_active = length_of(activity.compute);
  coarse.movement_active = length_of(activity.movement);
  coarse.host_active = length_of(activity.host);
  divide_wall(activity, coarse);
  coarse.inferences = inference_walls(profile);
  coarse.inferences_per_second = inferences_per_second(profile, coarse.inferences, coarse.timeline);
  return coarse;
}

}  // namespace npuscope::analysis
