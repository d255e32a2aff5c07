#include "npuscope/analysis/compare.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "analysis/compare/compare_ops.hpp"
#include "analysis/compare/compare_sides.hpp"

namespace npuscope::analysis {

const char* name_of(MeasuredIn unit) {
  constexpr const char* names[] = {"cycles", "ticks", "seconds", "bytes", "count"};
  return names[std::size_t(unit)];
}

const char* name_of(ChangeVerdict verdict) {
  constexpr const char* names[] = {"same", "within noise", "less", "more"};
  return names[std::size_t(verdict)];
}

const char* name_of(OpChange change) {
  constexpr const char* names[] = {"slower", "faster", "added", "removed", "within noise", "same"};
  return names[std::size_t(change)];
}

std::optional<double> Estimate::relative() const {
  if (a == b) return 0;
  if (a == 0) return std::nullopt;
  return (b - a) / std::abs(a);
}

namespace {

ChangeVerdict verdict_of(const Estimate& estimate) {
  const double delta = estimate.delta();
  if (delta == 0) return ChangeVerdict::same;
  if (estimate.contrast.absolute) {
    const Range& range = *estimate.contrast.absolute;
    if (range.low <= 0 && range.high >= 0) return ChangeVerdict::unclear;
  }
  const auto p = estimate.p;
  if (p && !tells_apart(*p, estimate.samples_a.size(), estimate.samples_b.size())) {
    return ChangeVerdict::unclear;
  }
  return delta > 0 ? ChangeVerdict::more : ChangeVerdict::less;
}

}  // namespace

Estimate estimate_of(std::vector<double> a, std::vector<double> b, Depth depth) {
  Estimate estimate;
  if (depth == Depth::verdict) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
  }
  estimate.a = median_of(a);
  estimate.b = median_of(b);
  const bool several = a.size() > 1 && b.size() > 1;
  if (several && depth == Depth::verdict) {
    estimate.contrast = contrast_of(a, b);
    estimate.p = rank_test(a, b);
  }
  estimate.samples_a = std::move(a);
  estimate.samples_b = std::move(b);
  estimate.verdict = verdict_of(estimate);
  return estimate;
}

Estimate estimate_of(std::vector<double> a, std::vector<double> b) {
  return estimate_of(std::move(a), std::move(b), Depth::verdict);
}

std::uint64_t OpComparison::row_count() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) sum += count;
  return sum;
}

struct Comparer::Held {
  Held(std::span<const RunSamples> of_a, std::span<const RunSamples> of_b)
      : a(of_a), b(of_b), ops(a, b) {}

  using Outcome = tl::expected<MetricChange, RefusedMetric::Why>;
  Outcome metric(std::string_view name) const;
  std::vector<std::string> names() const;

  RunSide a, b;
  OpComparer ops;
};

namespace {

std::uint64_t inferences_of(const RunSamples& run) {
  return std::max<std::uint64_t>(run.profile().provenance.inferences, run.inferences().size());
}

}  // namespace

Comparer::Held::Outcome Comparer::Held::metric(std::string_view name) const {
  using Why = RefusedMetric::Why;
  const Metric* first = nullptr;
  std::vector<TimeBase> clocks;
  bool in_a = false, in_b = false, of_run = false, as_many = true, same_kind = true;
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
      as_many = as_many && inferences_of(run) == inferences_of(a.runs().front());
      clocks.push_back(here->time);
    }
  }
  if (!in_a) return tl::unexpected(Why::only_in_b);
  if (!in_b) return tl::unexpected(Why::only_in_a);
  if (!same_kind) return tl::unexpected(Why::kinds);
  if (of_run && !as_many) return tl::unexpected(Why::whole_runs);
  MetricChange change{std::string(name), first->kind, MeasuredIn::count, {}};
  std::vector<double> factors(clocks.size(), 1);
  if (first->quantity == SampleQuantity::bytes) change.unit = MeasuredIn::bytes;
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

// Of both sides, in the order in which they have them.
std::vector<std::string> Comparer::Held::names() const {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (const RunSide* side : {&a, &b}) {
    for (const RunSamples& run : side->runs()) {
      for (const Metric& metric : run.metrics()) {
        if (!metric.samples.empty() && seen.insert(metric.name).second) {
          names.push_back(metric.name);
        }
      }
    }
  }
  return names;
}

namespace {

using What = Difference::What;

const char* name_of(Provenance::Temperature temperature) {
  switch (temperature) {
    case Provenance::Temperature::cold: return "cold";
    case Provenance::Temperature::warm: return "warm";
    case Provenance::Temperature::cold_then_warm: return "cold, then warm";
    case Provenance::Temperature::unknown: break;
  }
  return "";
}

// What the files say of themselves, where both sides say something and not the same.
void add_provenance(const RunSide& a, const RunSide& b, std::vector<Difference>& out) {
  const auto add = [&](What what, auto text_of) {
    const std::string of_a(text_of(a.runs().front().profile().provenance));
    const std::string of_b(text_of(b.runs().front().profile().provenance));
    if (!of_a.empty() && !of_b.empty() && of_a != of_b) out.push_back({what, of_a, of_b});
  };
  add(What::graph, [](const Provenance& from) { return from.graph; });
  add(What::device, [](const Provenance& from) { return from.device; });
  add(What::format, [](const Provenance& from) { return from.format; });
  add(What::version, [](const Provenance& from) { return from.version; });
  const auto level = [](const RunSide& side) {
    const Provenance& from = side.runs().front().profile().provenance;
    return from.instrumentation.empty() ? std::string("none known") : from.instrumentation;
  };
  if (level(a) != level(b)) out.push_back({What::instrumentation, level(a), level(b)});
  const auto heat = [](const RunSide& side) {
    if (side.is_cold_only()) return "cold";
    const auto temperature = side.runs().front().profile().provenance.temperature;
    return temperature == Provenance::Temperature::unknown && side.apart() > 0
               ? "the first apart"
               : name_of(temperature);
  };
  const std::string heat_a = heat(a), heat_b = heat(b);
  const bool one_is_cold = a.is_cold_only() != b.is_cold_only();
  if (one_is_cold || (!heat_a.empty() && !heat_b.empty() && heat_a != heat_b)) {
    out.push_back({What::temperature, heat_a.empty() ? "not known" : heat_a,
                   heat_b.empty() ? "not known" : heat_b});
  }
}

void add_runs(const RunSide& a, const RunSide& b, const OpComparer& ops,
              std::vector<Difference>& out) {
  if (ops.has_strangers(0)) out.push_back({What::runs_of_a, "", ""});
  if (ops.has_strangers(1)) out.push_back({What::runs_of_b, "", ""});
  if (!ops.matching().same_structure) out.push_back({What::compile, "", ""});
  for (const RunSide* side : {&a, &b}) {
    std::uint64_t left = 0;
    for (const RunSamples& run : side->runs()) left += run.metrics_left();
    if (left > 0) out.push_back({What::fewer_numbers, std::to_string(left), ""});
  }
  if (ops.is_thinned()) out.push_back({What::fewer_samples, "", ""});
}

}  // namespace

Comparer::Comparer(std::unique_ptr<Held> held) : held_(std::move(held)) {}
Comparer::~Comparer() = default;
Comparer::Comparer(Comparer&&) noexcept = default;

Result<Comparer> Comparer::make(std::span<const RunSamples> a, std::span<const RunSamples> b) {
  if (a.empty() || b.empty()) return usage_error("a comparison needs a run on either side");
  auto held = std::make_unique<Held>(a, b);
  bool any = held->ops.has_column();
  for (const std::string& name : held->names()) {
    const bool is_timeline = name == "wall";
    if (any && !is_timeline) continue;
    const auto outcome = held->metric(name);
    if (!outcome && is_timeline && outcome.error() == RefusedMetric::Why::clocks) {
      const auto clock = [](const RunSamples& run) { return run.metric("wall")->time; };
      const auto with = [&](std::span<const RunSamples> side) {
        const auto run = std::find_if(side.begin(), side.end(), [](const RunSamples& each) {
          return each.metric("wall") != nullptr;
        });
        return clock(*run).name;
      };
      return usage_error(
          "the timelines count different clocks ('{}' and '{}') and no rate is known that relates "
          "them, so nothing of them can be compared; record both sides alike",
          with(a), with(b));
    }
    any = any || outcome.has_value();
  }
  if (!any) {
    return usage_error(
        "A and B have no number in common that could be compared; are they profiles of the same "
        "kind?");
  }
  return Comparer(std::move(held));
}

Comparison Comparer::compare(const CompareOptions& options) const {
  Comparison result;
  for (const std::string& name : held_->names()) {
    auto outcome = held_->metric(name);
    if (outcome) {
      result.metrics.push_back(std::move(*outcome));
    } else {
      result.refused.push_back({name, outcome.error()});
    }
  }
  for (const MetricChange& metric : result.metrics) {
    if (result.samples[0] > 0 && metric.name != "wall") continue;
    result.samples[0] = metric.estimate.samples_a.size();
    result.samples[1] = metric.estimate.samples_b.size();
    result.cold[0] = metric.estimate.cold_a;
    result.cold[1] = metric.estimate.cold_b;
  }
  result.runs[0] = held_->a.runs().size();
  result.runs[1] = held_->b.runs().size();
  result.apart[0] = result.cold[0] ? 0 : held_->a.apart();
  result.apart[1] = result.cold[1] ? 0 : held_->b.apart();
  result.ops = held_->ops.compare(options);
  add_provenance(held_->a, held_->b, result.differences);
  add_runs(held_->a, held_->b, held_->ops, result.differences);
  return result;
}

Result<MetricChange> Comparer::metric(std::string_view name) const {
  auto outcome = held_->metric(name);
  if (outcome) return std::move(*outcome);
  using Why = RefusedMetric::Why;
  const std::vector<std::string> names = held_->names();
  const bool exists = std::find(names.begin(), names.end(), name) != names.end();
  if (!exists) {
    std::string all;
    constexpr std::size_t most_named = 30;
    for (std::size_t i = 0; i < std::min(names.size(), most_named); ++i) {
      all += (i > 0 ? ", " : "") + names[i];
    }
    if (names.size() > most_named) all += fmt::format(" and {} more", names.size() - most_named);
    return usage_error("neither side has a number '{}'; they have {}", name, all);
  }
  switch (outcome.error()) {
    case Why::only_in_a: return usage_error("only A has a number '{}'", name);
    case Why::only_in_b: return usage_error("only B has a number '{}'", name);
    case Why::clocks:
      return usage_error("'{}' is on clocks with no known relation, so A and B are not compared",
                         name);
    case Why::whole_runs:
      return usage_error("'{}' is of whole runs, and these are of different numbers of inferences",
                         name);
    case Why::kinds: break;
  }
  return usage_error("'{}' is not the same kind of number in A and B, so they are not compared",
                     name);
}

Result<MetricChange> Comparer::op_metric(const Pattern& pattern, std::string_view column) const {
  return held_->ops.sum_of(pattern, column);
}

}  // namespace npuscope::analysis
