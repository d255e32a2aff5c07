#include "analysis/compare/compare_sides.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/compare/samples_held.hpp"
#include "analysis/latency.hpp"
#include "base/try.hpp"
#include "npuscope/analysis/findings.hpp"

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
                      first->source,     repeats,     first->meaning};
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

namespace {

using Why = RefusedMetric::Why;

// Of "p95" 95.
std::optional<double> percent_of(std::string_view name) {
  for (const double percent : latency_percentiles) {
    if (name == fmt::format("p{:g}", percent)) return percent;
  }
  return std::nullopt;
}

bool is_cold(const MetricChange& change) {
  return change.estimate.cold_a || change.estimate.cold_b;
}

bool is_derived(const MetricChange& change) { return change.source.starts_with("1 / "); }

// Of the pooled samples of latency, else of device_latency.
ComparedMetric percentile_metric(const ComparedSides& sides, std::string_view name,
                                 double percent) {
  const auto runs = sides.reference().runs();
  const bool of_table = std::any_of(runs.begin(), runs.end(), [&](const RunSamples& run) {
    return std::any_of(run.call().begin(), run.call().end(),
                       [&](const Metric& metric) { return metric.name == name; });
  });
  if (of_table) return compare_metric(sides.a, sides.b, name);
  ComparedMetric base = compare_call_metric(sides, "latency");
  if (!base) base = compare_call_metric(sides, "device_latency");
  if (!base) return base;
  MetricChange change = std::move(*base);
  const Estimate of = std::move(change.estimate);
  change.estimate = estimate_of_percentile(of.samples_a, of.samples_b, percent);
  change.estimate.cold_a = of.cold_a;
  change.estimate.cold_b = of.cold_b;
  change.source = fmt::format("{}: {}", change.name, change.source);
  change.name = name;
  return change;
}

}  // namespace

bool is_call_metric(std::string_view name) {
  return name == "latency" || name == "device_latency" || name == "throughput" ||
         percent_of(name).has_value();
}

ComparedMetric compare_call_metric(const ComparedSides& sides, std::string_view name) {
  if (const auto percent = percent_of(name)) return percentile_metric(sides, name, *percent);
  ComparedMetric here = compare_metric(sides.a, sides.b, name);
  const bool has_more_a = sides.is_alone() || !sides.more_a.runs().empty();
  if (!has_more_a || sides.more_b.runs().empty()) return here;
  if (here && !is_cold(*here) && !is_derived(*here)) return here;
  ComparedMetric beside = compare_metric(sides.more_a, sides.more_b, name);
  const bool is_better = beside && (!here || (is_cold(*here) && !is_cold(*beside)) ||
                                    (is_derived(*here) && !is_derived(*beside)));
  return is_better ? beside : here;
}

std::vector<MetricChange> compare_call(const ComparedSides& sides) {
  std::vector<MetricChange> call;
  const auto add = [&](ComparedMetric metric) {
    if (metric) call.push_back(std::move(*metric));
  };
  add(compare_call_metric(sides, "latency"));
  const bool has_latency = !call.empty();
  if (has_latency) {
    for (const std::string_view layer : call_layers(sides.reference().runs().front().metrics())) {
      add(compare_metric(sides.a, sides.b, layer));
    }
  }
  ComparedMetric device = compare_call_metric(sides, "device_latency");
  if (device && (has_latency || device->source != "wall")) add(std::move(device));
  ComparedMetric rate = compare_call_metric(sides, "throughput");
  if (rate && !is_derived(*rate)) add(std::move(rate));
  if (!has_latency) return call;
  ComparedMetric tail = compare_call_metric(sides, "p95");
  const bool is_bounded = tail && (tail->estimate.percent == 50 ||  // of a table
                                   tail->estimate.has_enough_samples());
  if (is_bounded) add(std::move(tail));
  return call;
}

namespace {

double median_wall(const RunSide& side, std::size_t run) {
  const Metric* wall = side.runs()[run].metric("wall");
  std::vector<double> values;
  if (wall == nullptr) return 0;
  for (const Sample& sample : wall->samples) {
    if (!side.is_cold(run, sample.inference)) values.push_back(sample.value);
  }
  return median_of(std::move(values));
}

// The warm run nearest to the median of all, as `diagnose` takes it; the first where none is warm.
std::size_t middle_run(const RunSide& side) {
  std::vector<double> walls;
  for (std::size_t run = 0; run < side.runs().size(); ++run) {
    walls.push_back(median_wall(side, run));
  }
  std::vector<double> warm;
  std::copy_if(walls.begin(), walls.end(), std::back_inserter(warm),
               [](double wall) { return wall > 0; });
  const double middle = median_of(warm);
  const auto distance = [&](double wall) {
    return wall > 0 ? std::abs(wall - middle) : std::numeric_limits<double>::infinity();
  };
  const auto nearest = std::min_element(
      walls.begin(), walls.end(), [&](double x, double y) { return distance(x) < distance(y); });
  return std::size_t(nearest - walls.begin());
}

// Which findings a metric counts.
struct FindingsWanted {
  std::optional<Weight> weight;
  std::string rule;
};

Result<FindingsWanted> findings_wanted(std::string_view name) {
  if (name == "findings") return FindingsWanted{};
  std::string_view inside = name.substr(9);  // "findings("
  if (inside.ends_with(')')) inside.remove_suffix(1);
  for (const Weight weight : {Weight::low, Weight::medium, Weight::high}) {
    if (inside == name_of(weight)) return FindingsWanted{weight, {}};
  }
  const bool has_quotes = inside.size() > 1 && inside.front() == inside.back() &&
                          (inside.front() == '\'' || inside.front() == '"');
  if (has_quotes) inside = inside.substr(1, inside.size() - 2);
  const Status rule = require_finding_rule(std::string(inside));
  if (rule) return FindingsWanted{std::nullopt, std::string(inside)};
  return usage_error("'{}' is neither a weight (high, medium, low) nor a rule: {}", inside,
                     rule.error().message);
}

// A rule that could not be tried found nothing for want of data: that is no zero.
Result<double> count_findings(const RunSide& side, const FindingsWanted& wanted) {
  if (side.runs().empty()) return 0.0;
  const RunFindings findings = side.runs()[middle_run(side)].findings(wanted.rule);
  if (!wanted.rule.empty() && !findings.untried.empty()) {
    return usage_error("rule '{}' could not be tried, data is missing: {}", wanted.rule,
                       findings.untried.front().missing);
  }
  if (!wanted.rule.empty() && findings.found.empty() && findings.quiet.empty()) {
    return usage_error("the snapshot is older than rule '{}'; make it again", wanted.rule);
  }
  return double(
      std::count_if(findings.found.begin(), findings.found.end(), [&](const auto& finding) {
        return !wanted.weight || finding.weight == name_of(*wanted.weight);
      }));
}

}  // namespace

bool is_findings_metric(std::string_view name) {
  return name == "findings" || name.starts_with("findings(");
}

Result<MetricChange> compare_findings(const ComparedSides& sides, std::string_view name) {
  TRY_AS(wanted, findings_wanted(name));
  MetricChange change{std::string(name), MeasureKind::count, MeasuredIn::count, {}, {}, true};
  TRY_AS(a, count_findings(sides.a, *wanted));
  TRY_AS(b, count_findings(sides.b, *wanted));
  std::vector<double> of_a;
  if (!sides.is_alone()) of_a = {*a};
  change.estimate = estimate_of(std::move(of_a), {*b});
  return change;
}

}  // namespace npuscope::analysis
