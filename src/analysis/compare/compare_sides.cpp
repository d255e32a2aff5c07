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

}  // namespace npuscope::analysis
