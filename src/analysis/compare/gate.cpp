#include "npuscope/analysis/gate.hpp"

#include <limits>

namespace npuscope::analysis {

const char* name_of(GateOutcome outcome) {
  constexpr const char* names[] = {"passed", "failed", "passed, within noise"};
  return names[std::size_t(outcome)];
}

namespace {

using Comparator = Gate::Comparator;
using Limit = Gate::Limit;

bool is_beyond(Comparator comparator, double value, double threshold) {
  switch (comparator) {
    case Comparator::more: return value > threshold;
    case Comparator::at_least: return value >= threshold;
    case Comparator::less: return value < threshold;
    case Comparator::at_most: return value <= threshold;
  }
  return false;
}

bool is_upward(Comparator comparator) {
  return comparator == Comparator::more || comparator == Comparator::at_least;
}

double measured_of(const Gate& gate, const Estimate& estimate) {
  if (gate.limit == Limit::value) return estimate.b;
  if (gate.limit == Limit::change) return estimate.delta();
  const auto relative = estimate.relative();
  if (relative) return *relative;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  return estimate.b > 0 ? infinite : -infinite;
}

std::optional<Range> interval_of(const Gate& gate, const Estimate& estimate) {
  switch (gate.limit) {
    case Limit::share: return estimate.contrast.relative;
    case Limit::change: return estimate.contrast.absolute;
    case Limit::value: return median_interval(estimate.samples_b);
  }
  return std::nullopt;
}

// The rank test of b against a as it would be just at the limit.
std::optional<double> p_of(const Gate& gate, const Estimate& estimate) {
  if (gate.limit == Limit::value || !estimate.has_noise_rule()) return std::nullopt;
  std::vector<double> shifted = estimate.samples_a;
  for (double& sample : shifted) {
    sample = gate.limit == Limit::share ? sample * (1 + gate.threshold) : sample + gate.threshold;
  }
  return rank_test(shifted, estimate.samples_b);
}

bool is_noise(const Gate& gate, const GateResult& result) {
  if (!result.interval) return false;
  const double nearest = is_upward(gate.comparator) ? result.interval->low : result.interval->high;
  if (!is_beyond(gate.comparator, nearest, gate.threshold)) return true;
  const Estimate& estimate = result.metric.estimate;
  return result.p && !tells_apart(*result.p, estimate.samples_a.size(), estimate.samples_b.size());
}

const char* units_accepted(MeasuredIn unit) {
  constexpr const char* names[] = {"cycles (cyc)", "ticks", "time (ns, us, ms, s)",
                                   "bytes (B, KiB, MiB, GiB)", "a plain number"};
  return names[std::size_t(unit)];
}

}  // namespace

Result<GateResult> judge(const Gate& gate, const Comparer& comparer) {
  auto metric = gate.op ? comparer.op_metric(*gate.op, gate.metric) : comparer.metric(gate.metric);
  if (!metric) {
    return usage_error("the gate '{}' cannot be judged: {}", gate.text, metric.error().message);
  }
  if (gate.unit && gate.limit != Limit::share && *gate.unit != metric->unit) {
    return usage_error("the gate '{}' gives its limit in {}, but {} counts in {}", gate.text,
                       units_accepted(*gate.unit), gate.metric.empty() ? metric->name : gate.metric,
                       units_accepted(metric->unit));
  }
  if (!gate.unit && gate.limit != Limit::share && metric->unit == MeasuredIn::seconds) {
    return usage_error("the gate '{}' gives its limit without a unit; write ns, us, ms or s",
                       gate.text);
  }
  GateResult result;
  result.metric = std::move(*metric);
  result.measured = measured_of(gate, result.metric.estimate);
  result.interval = interval_of(gate, result.metric.estimate);
  result.p = p_of(gate, result.metric.estimate);
  result.has_noise_rule = result.interval.has_value();
  if (!is_beyond(gate.comparator, result.measured, gate.threshold)) return result;
  result.outcome = is_noise(gate, result) ? GateOutcome::within_noise : GateOutcome::failed;
  return result;
}

}  // namespace npuscope::analysis
