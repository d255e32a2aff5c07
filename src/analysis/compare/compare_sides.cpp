#include "analysis/compare/compare_sides.hpp"

#include <algorithm>

namespace npuscope::analysis {

using Temperature = Provenance::Temperature;

RunSide::RunSide(std::span<const RunSamples> runs) : runs_(runs) {
  const bool one_each = std::all_of(
      runs.begin(), runs.end(), [](const RunSamples& run) { return run.inferences().size() == 1; });
  begins_at_first_ = one_each && std::any_of(runs.begin(), runs.end(), [](const RunSamples& run) {
                       return run.inferences().front() > 0;
                     });
}

bool RunSide::is_cold(std::size_t run, std::uint32_t inference) const {
  const RunSamples& of = runs_[run];
  if (inference == every_instance) {  // of a run of one inference they are of that one
    if (of.inferences().size() != 1 || of.profile().provenance.inferences > 1) return false;
    inference = of.inferences().front();
  }
  const Temperature temperature = of.profile().provenance.temperature;
  if (temperature == Temperature::warm) return false;
  if (temperature == Temperature::cold) return true;
  if (of.inferences().size() > 1) return inference == of.inferences().front();
  if (begins_at_first_) return inference == 0;
  return temperature == Temperature::cold_then_warm;
}

std::uint64_t RunSide::apart() const {
  std::uint64_t cold = 0, warm = 0;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    for (const std::uint32_t inference : runs_[run].inferences()) {
      (is_cold(run, inference) ? cold : warm) += 1;
    }
  }
  return warm > 0 ? cold : 0;
}

bool RunSide::is_cold_only() const {
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    for (const std::uint32_t inference : runs_[run].inferences()) {
      if (!is_cold(run, inference)) return false;
    }
  }
  return true;
}

Pool RunSide::pool(std::string_view metric, const std::vector<double>& factors) const {
  Pool warm, cold;
  cold.cold = true;
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const Metric* found = runs_[run].metric(metric);
    if (found == nullptr) continue;
    for (const Sample& sample : found->samples) {
      Pool& pool = is_cold(run, sample.inference) ? cold : warm;
      pool.values.push_back(sample.value * factors[run]);
      pool.of_run = pool.of_run || found->of_run;
    }
  }
  return warm.values.empty() ? cold : warm;
}

std::optional<CommonTime> common_time(const std::vector<TimeBase>& clocks) {
  CommonTime common;
  const auto all = [&](auto holds) { return std::all_of(clocks.begin(), clocks.end(), holds); };
  if (all([](const TimeBase& clock) { return clock.kind == ClockKind::unit_cycles; })) {
    common.unit = MeasuredIn::cycles;
    common.factors.assign(clocks.size(), 1);
  } else if (all([](const TimeBase& clock) { return clock.hertz > 0; })) {
    common.unit = MeasuredIn::seconds;
    for (const TimeBase& clock : clocks) common.factors.push_back(1 / clock.hertz);
  } else if (all([&](const TimeBase& clock) {
               return clock.kind == clocks.front().kind && clock.name == clocks.front().name &&
                      clock.hertz == 0;
             })) {
    common.unit = MeasuredIn::ticks;
    common.factors.assign(clocks.size(), 1);
  } else {
    return std::nullopt;
  }
  return common;
}

namespace {

std::uint64_t inferences_of(const RunSamples& run) {
  return std::max<std::uint64_t>(run.profile().provenance.inferences, run.inferences().size());
}

}  // namespace

ComparedMetric compare_metric(const RunSide& a, const RunSide& b, std::string_view name) {
  using Why = RefusedMetric::Why;
  const Metric* first = nullptr;
  const RunSide& reference = a.runs().empty() ? b : a;
  std::vector<TimeBase> clocks;
  bool in_a = false, in_b = false, of_run = false, as_many = true, same_kind = true;
  bool same_source = true, repeats = true;
  for (const RunSide* side : {&a, &b}) {
    for (const RunSamples& run : side->runs()) {
      const Metric* here = run.metric(name);
      if (here == nullptr || here->samples.empty()) {
        if (first != nullptr) clocks.push_back(clocks.back());
        continue;
      }
      (side == &a ? in_a : in_b) = true;
      if (first == nullptr) {
        first = here;
        const auto before =
            std::size_t(&run - side->runs().data()) + (side == &b ? a.runs().size() : 0);
        clocks.assign(before, here->time);
      }
      same_kind = same_kind && here->kind == first->kind && here->quantity == first->quantity;
      of_run = of_run || here->of_run;
      as_many = as_many && inferences_of(run) == inferences_of(reference.runs().front());
      same_source = same_source && here->source == first->source;
      repeats = repeats && here->repeats;
      clocks.push_back(here->time);
    }
  }
  if (!in_a && !a.runs().empty()) return tl::unexpected(Why::only_in_b);
  if (!in_b) return tl::unexpected(Why::only_in_a);
  if (!same_source) return tl::unexpected(Why::sources);
  if (!same_kind) return tl::unexpected(Why::kinds);
  if (of_run && !as_many) return tl::unexpected(Why::whole_runs);
  MetricChange change{std::string(name), first->kind, MeasuredIn::count, {},
                      first->source,     repeats};
  std::vector<double> factors(clocks.size(), 1);
  if (first->quantity == SampleQuantity::bytes) change.unit = MeasuredIn::bytes;
  if (first->quantity == SampleQuantity::share) change.unit = MeasuredIn::share;
  if (first->quantity == SampleQuantity::time) {
    auto common = common_time(clocks);
    if (!common) return tl::unexpected(Why::clocks);
    change.unit = common->unit;
    factors = std::move(common->factors);
  }
  const auto split = factors.begin() + std::ptrdiff_t(a.runs().size());
  Pool of_a = a.pool(name, {factors.begin(), split}), of_b = b.pool(name, {split, factors.end()});
  change.estimate = estimate_of(std::move(of_a.values), std::move(of_b.values));
  change.estimate.cold_a = of_a.cold;
  change.estimate.cold_b = of_b.cold;
  return change;
}

}  // namespace npuscope::analysis
