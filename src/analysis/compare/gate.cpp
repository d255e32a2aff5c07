#include "npuscope/analysis/gate.hpp"
#include "base/try.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace npuscope::analysis {

const char* name_of(GateOutcome outcome) {
  constexpr const char* names[] = {"passed", "failed", "inconclusive"};
  return names[std::size_t(outcome)];
}

const char* name_of(GateDoubt doubt) {
  constexpr const char* names[] = {"none", "too few samples", "within noise", "cold against warm",
                                   "cold inferences only"};
  return names[std::size_t(doubt)];
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

bool is_extreme(Gate::Statistic statistic) {
  return statistic == Gate::Statistic::min || statistic == Gate::Statistic::max;
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
  if (is_extreme(gate.statistic)) return std::nullopt;
  switch (gate.limit) {
    case Limit::share: return estimate.contrast.relative;
    case Limit::change: return estimate.contrast.absolute;
    case Limit::value: return percentile_interval(estimate.samples_b, estimate.percent);
  }
  return std::nullopt;
}

// The rank test of b against a as it would be just at the limit.
std::optional<double> p_of(const Gate& gate, const Estimate& estimate) {
  if (gate.limit == Limit::value || !estimate.has_noise_rule() || estimate.percent != 50) {
    return std::nullopt;
  }
  std::vector<double> shifted = estimate.samples_a;
  for (double& sample : shifted) {
    sample = gate.limit == Limit::share ? sample * (1 + gate.threshold) : sample + gate.threshold;
  }
  return rank_test(shifted, estimate.samples_b);
}

// The least that could tell, on a side that is asked.
std::size_t min_samples(const Gate& gate, const Estimate& estimate) {
  constexpr std::size_t of_a_change = 3;  // 3 and 3 are divided in 20 ways
  const bool is_change_of_median = gate.limit != Limit::value && estimate.percent == 50;
  return is_change_of_median ? of_a_change : samples_to_bound(estimate.percent);
}

bool has_enough_samples(const Gate& gate, const Estimate& estimate) {
  if (gate.limit == Limit::value) return estimate.samples_b.size() >= min_samples(gate, estimate);
  return estimate.has_enough_samples();
}

// How many times as many samples as there are bring the interval clear of the limit.
double factor_of(const Gate& gate, const GateResult& result) {
  if (!result.interval) return 1;
  const bool from_above = result.measured > gate.threshold;
  const double half =
      std::abs(result.measured - (from_above ? result.interval->low : result.interval->high));
  const double distance = std::abs(result.measured - gate.threshold);
  constexpr double clear = 2.8 / 1.96;
  return std::max(1.0, std::pow(clear * half / distance, 2));  // infinite at the limit
}

void add_missing(const Gate& gate, GateResult& result) {
  const Estimate& estimate = result.metric.estimate;
  const double factor = factor_of(gate, result);
  const auto missing = [&](std::size_t have) -> std::optional<std::uint64_t> {
    const std::size_t min = min_samples(gate, estimate);
    // Without two samples a side the spread is unknown, and the least is all that can be said.
    const double wanted = std::max(double(min), std::ceil(double(have) * factor));
    if (!(wanted <= double(max_samples))) return std::nullopt;
    return std::uint64_t(wanted) - std::min<std::uint64_t>(have, std::uint64_t(wanted));
  };
  result.more_b = missing(estimate.samples_b.size());
  if (gate.limit != Limit::value) result.more_a = missing(estimate.samples_a.size());
  const bool is_none = result.more_a.value_or(0) == 0 && result.more_b.value_or(0) == 0;
  if (is_none && result.more_b) {  // the rank test alone does not tell yet
    result.more_b = 1;
    if (result.more_a) result.more_a = 1;
  }
}

// What the interval and the rank test say of the limit.
GateOutcome outcome_of(const Gate& gate, const GateResult& result) {
  if (!result.interval) {  // a percentage of samples that are not above zero, min and max
    return is_beyond(gate.comparator, result.measured, gate.threshold) ? GateOutcome::failed
                                                                       : GateOutcome::passed;
  }
  const bool upward = is_upward(gate.comparator);
  const double nearest = upward ? result.interval->low : result.interval->high;
  const double farthest = upward ? result.interval->high : result.interval->low;
  if (!is_beyond(gate.comparator, farthest, gate.threshold)) return GateOutcome::passed;
  if (!is_beyond(gate.comparator, nearest, gate.threshold)) return GateOutcome::inconclusive;
  const Estimate& estimate = result.metric.estimate;
  const bool is_told =
      !result.p || is_significant(*result.p, estimate.samples_a.size(), estimate.samples_b.size());
  return is_told ? GateOutcome::failed : GateOutcome::inconclusive;
}

void decide(const Gate& gate, GateResult& result) {
  const Estimate& estimate = result.metric.estimate;
  const bool has_enough = is_extreme(gate.statistic) || has_enough_samples(gate, estimate);
  const bool is_of_b = gate.limit == Limit::value;
  const bool is_mixed = !is_of_b && estimate.cold_a != estimate.cold_b;
  const bool is_cold = is_of_b && estimate.cold_b && !result.metric.repeats;
  if (is_cold) {
    result.doubt = GateDoubt::cold;
  } else if (result.metric.repeats && !has_enough) {
    result.interval = std::nullopt;
    result.p = std::nullopt;
    result.outcome = outcome_of(gate, result);
  } else if (is_mixed) {
    result.doubt = GateDoubt::temperature;
  } else if (!has_enough) {
    result.doubt = GateDoubt::too_few;
  } else {
    result.outcome = outcome_of(gate, result);
    if (result.outcome == GateOutcome::inconclusive) result.doubt = GateDoubt::within_noise;
  }
  if (result.doubt == GateDoubt::none) return;
  result.outcome = GateOutcome::inconclusive;
  if (!is_mixed && !is_cold) add_missing(gate, result);
}

const char* units_accepted(MeasuredIn unit) {
  constexpr const char* names[] = {"cycles (cyc)",         "ticks",
                                   "time (ns, us, ms, s)", "bytes (B, kB, MB, GB, KiB, MiB, GiB)",
                                   "a plain number",       "a percentage"};
  return names[std::size_t(unit)];
}

std::vector<std::string> warm_names(const Comparer& comparer) {
  std::vector<std::string> names;
  for (const char* name : {"latency", "device_latency"}) {
    const auto metric = comparer.metric(name);
    if (!metric || metric->estimate.cold_a || metric->estimate.cold_b) continue;
    names.push_back(name);
  }
  return names;
}

bool is_time(MeasuredIn unit) {
  return unit == MeasuredIn::seconds || unit == MeasuredIn::cycles || unit == MeasuredIn::ticks;
}

// "wall > 3" with its unit: 'wall > 3ms', and as a change: 'wall > +3%'.
tl::unexpected<Error> no_unit(const Gate& gate, MeasuredIn unit, bool is_alone) {
  const char* name = unit == MeasuredIn::seconds  ? "ms"
                     : unit == MeasuredIn::cycles ? "cyc"
                                                  : "ticks";
  const std::size_t number = gate.text.find_last_of("<>= ") + 1;
  const std::string head = gate.text.substr(0, number), tail = gate.text.substr(number);
  const bool has_sign = gate.limit == Limit::change;
  if (is_alone) return usage_error("its limit has no unit; write '{}{}{}'", head, tail, name);
  return usage_error("its limit has no unit; write '{}{}{}', or '{}{}{}%' for a share of A", head,
                     tail, name, head, has_sign ? "" : "+", tail);
}

const char* statistic_name(Gate::Statistic statistic) {
  return statistic == Gate::Statistic::min ? "min" : "max";
}

// "wall.p95", "wall.max". The least and the most of samples are what they are, without doubt; how
// they change from run to run nothing tells.
Status apply_statistic(const Gate& gate, MetricChange& metric) {
  using Statistic = Gate::Statistic;
  if (gate.statistic == Statistic::usual) return {};
  const Estimate of = std::exchange(metric.estimate, {});
  if (of.percent != 50) {
    return usage_error("{} is a percentile already; leave out what follows the dot", metric.name);
  }
  if (gate.statistic == Statistic::percentile) {
    metric.name +=
        fmt::format(".{}", gate.percent == 50 ? "median" : fmt::format("p{:g}", gate.percent));
    metric.estimate = gate.percent == 50
                          ? estimate_of(of.samples_a, of.samples_b)
                          : estimate_of_percentile(of.samples_a, of.samples_b, gate.percent);
  } else {
    const char* name = statistic_name(gate.statistic);
    if (gate.limit != Limit::value) {
      return usage_error(
          "a change of the {} and noise look alike; write a limit without a sign, "
          "or gate '{}.p95'",
          name, metric.name);
    }
    metric.name += fmt::format(".{}", name);
    metric.estimate.percent = gate.statistic == Statistic::min ? 0 : 100;
    metric.estimate.a = percentile_of(of.samples_a, metric.estimate.percent);
    metric.estimate.b = percentile_of(of.samples_b, metric.estimate.percent);
    metric.estimate.samples_a = of.samples_a;
    metric.estimate.samples_b = of.samples_b;
  }
  metric.estimate.cold_a = of.cold_a;
  metric.estimate.cold_b = of.cold_b;
  return {};
}

}  // namespace

Result<GateResult> judge(const Gate& gate, const Comparer& comparer) {
  if (comparer.is_alone() && gate.limit != Limit::value) {
    return usage_error(
        "a change needs a baseline; write a limit without a sign and a percentage "
        "('{} > 3ms'), or ask npuscope diff",
        gate.metric.empty() ? "wall" : gate.metric);
  }
  TRY_AS(metric, gate.op ? comparer.op_metric(*gate.op, gate.metric, gate.op_text)
                         : comparer.metric(gate.metric));
  TRY(apply_statistic(gate, *metric));
  if (gate.unit && gate.limit != Limit::share && *gate.unit != metric->unit) {
    return usage_error("its limit is in {}, but {} counts in {}", units_accepted(*gate.unit),
                       gate.metric.empty() ? metric->name : gate.metric,
                       units_accepted(metric->unit));
  }
  // A plain number can only be of cycles where a metric counts these.
  const bool is_plain = comparer.is_alone() && metric->unit == MeasuredIn::cycles;
  if (!gate.unit && gate.limit != Limit::share && is_time(metric->unit) && !is_plain) {
    return no_unit(gate, metric->unit, comparer.is_alone());
  }
  GateResult result = judge(gate, std::move(*metric));
  const bool is_cold = result.metric.estimate.cold_a || result.metric.estimate.cold_b;
  if (is_cold && result.outcome == GateOutcome::inconclusive) {
    result.warm_instead = warm_names(comparer);
  }
  return result;
}

GateResult judge(const Gate& gate, MetricChange metric) {
  GateResult result;
  result.metric = std::move(metric);
  result.measured = measured_of(gate, result.metric.estimate);
  result.interval = interval_of(gate, result.metric.estimate);
  result.p = p_of(gate, result.metric.estimate);
  decide(gate, result);
  result.has_noise_rule = result.interval.has_value();
  return result;
}

}  // namespace npuscope::analysis
