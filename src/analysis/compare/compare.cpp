#include "npuscope/analysis/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "analysis/compare/compare_ops.hpp"
#include "analysis/compare/compare_sides.hpp"
#include "analysis/units/unit_numbers.hpp"
#include "base/near_names.hpp"
#include "npuscope/analysis/statistics.hpp"
#include "profile/names.hpp"

namespace npuscope::analysis {

const char* name_of(MeasuredIn unit) {
  constexpr const char* names[] = {"cycles", "ticks", "seconds", "bytes", "count", "share"};
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
  if (p && !is_significant(*p, estimate.samples_a.size(), estimate.samples_b.size())) {
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

bool Estimate::has_enough_samples() const {
  constexpr double doubt = 0.05, rounding = 1e-9;
  if (samples_a.empty()) return samples_b.size() >= samples_to_bound(percent);
  if (percent != 50) {
    return std::min(samples_a.size(), samples_b.size()) >= samples_to_bound(percent);
  }
  // One of two sides: which one is asked.
  return min_p(samples_a.size(), samples_b.size()) / 2 <= doubt + rounding;
}

Estimate estimate_of_percentile(std::vector<double> a, std::vector<double> b, double percent) {
  Estimate estimate;
  estimate.percent = percent;
  estimate.a = percentile_of(a, percent);
  estimate.b = percentile_of(b, percent);
  estimate.contrast = contrast_of(a, b, percent);
  estimate.samples_a = std::move(a);
  estimate.samples_b = std::move(b);
  estimate.verdict = verdict_of(estimate);
  return estimate;
}

const MetricChange* Comparison::headline() const {
  if (!call.empty()) return &call.front();
  for (const MetricChange& metric : metrics) {
    if (metric.name == "wall") return &metric;
  }
  return nullptr;
}

struct Comparer::Held {
  Held(std::span<const RunSamples> of_a, std::span<const RunSamples> of_b,
       std::span<const RunSamples> beside_a, std::span<const RunSamples> beside_b)
      : a(of_a), b(of_b), more_a(beside_a), more_b(beside_b), ops(a, b) {}

  std::vector<std::string> names() const;
  std::string known_name(std::string_view name) const;
  ComparedSides sides() const { return {a, b, more_a, more_b}; }
  tl::unexpected<Error> refusal(std::string_view name, RefusedMetric::Why why) const;

  RunSide a, b, more_a, more_b;
  OpComparer ops;
};

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

// Of a name that no run has as it stands, the only one that differs in case alone.
std::string Comparer::Held::known_name(std::string_view name) const {
  const auto lower = [](std::string_view text) {
    std::string out(text);
    for (char& c : out) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    return out;
  };
  const std::string wanted = lower(name);
  std::unordered_set<std::string> found;
  for (const RunSide* side : {&a, &b, &more_a, &more_b}) {
    for (const RunSamples& run : side->runs()) {
      if (run.metric(name) != nullptr) return std::string(name);
      const bool is_share = wanted.starts_with("share(");
      for (const Metric& metric : is_share ? run.shares() : run.metrics()) {
        if (lower(metric.name) == wanted) found.insert(metric.name);
      }
    }
  }
  return found.size() == 1 ? *found.begin() : std::string(name);
}

// Why a number is not compared, with the nearest names where there is none of this one.
tl::unexpected<Error> Comparer::Held::refusal(std::string_view name, RefusedMetric::Why why) const {
  using Why = RefusedMetric::Why;
  const auto has = [&](const RunSide& side) {
    return std::any_of(side.runs().begin(), side.runs().end(),
                       [&](const RunSamples& run) { return run.metric(name) != nullptr; });
  };
  if (!has(a) && !has(b) && !has(more_a) && !has(more_b)) {
    std::vector<std::string_view> call;
    for (const char* each : {"latency", "device_latency", "throughput"}) {
      if (compare_call_metric(sides(), each)) call.push_back(each);
    }
    const std::vector<std::string> own = names();
    std::vector<std::string_view> all = call;
    all.insert(all.end(), own.begin(), own.end());
    const char* side = sides().is_alone() ? "no profile" : "neither side";
    if (name.starts_with("share(")) {
      for (const RunSamples& run : b.runs()) {
        for (const Metric& share : run.shares()) all.push_back(share.name);
      }
    }
    if (!is_call_metric(name)) {
      return usage_error("{} has a number '{}'; the nearest names: {}", side, name,
                         nearest_names(all, name));
    }
    // None of them is near in meaning but the others of its kind.
    const bool has_wall = std::find(own.begin(), own.end(), "wall") != own.end();
    if (has_wall) call.push_back("wall");
    return usage_error(
        "{} has '{}': no file has it of single inferences; the nearest "
        "names: {}",
        side, name, nearest_names(call.empty() ? all : call, name));
  }
  const char* sides_are_not = sides().is_alone() ? "they are not" : "A and B are not";
  switch (why) {
    case Why::only_in_a: return usage_error("only A has a number '{}'", name);
    case Why::only_in_b: return usage_error("only B has a number '{}'", name);
    case Why::clocks:
      return usage_error("'{}' is on clocks with no known relation, so {} compared", name,
                         sides_are_not);
    case Why::whole_runs:
      return usage_error("'{}' is of whole runs, and these are of different numbers of inferences",
                         name);
    case Why::sources:
      return usage_error("'{}' is not the same number of the files in all runs", name);
    case Why::kinds: break;
  }
  return usage_error("'{}' is not the same kind of number in all runs, so {} compared", name,
                     sides_are_not);
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
  const auto origin = [](const RunSide& side) {
    return side.runs().front().profile().provenance.times;
  };
  if (origin(a) != origin(b)) {
    out.push_back({What::origin, stable_name(origin(a)), stable_name(origin(b))});
  } else if (level(a) != level(b)) {
    out.push_back({What::instrumentation, level(a), level(b)});
  }
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

// Of what a compiler estimated: the clock whose cycles it counts.
std::optional<double> stated_clock(const Profile& profile) {
  const std::size_t base = index_of(profile.base_clock);
  if (profile.provenance.times != Origin::estimated || base >= profile.clocks.size()) return {};
  const Clock& clock = profile.clocks[base];
  if (clock.kind != ClockKind::unit_cycles || !(clock.rate.value > 0)) return {};
  return clock.rate.value;
}

// Before everything else: where the clock changed, times of all ops did.
void add_clock(const RunSide& a, const RunSide& b, std::vector<Difference>& out) {
  constexpr double worth_saying = 0.03;  // governors and readings differ by less
  const auto clock_of = [](const RunSide& side) {
    std::vector<double> hertz;
    for (const RunSamples& run : side.runs()) {
      const Profile& profile = run.profile();
      const bool ran = profile.provenance.ran() && profile.provenance.simulator_slowdown == 0;
      const auto of_run = ran ? clock_during_run(profile) : stated_clock(profile);
      if (of_run) hertz.push_back(*of_run);
    }
    return hertz.empty() ? 0.0 : median_of(std::move(hertz));
  };
  const double of_a = clock_of(a), of_b = clock_of(b);
  if (!(of_a > 0) || !(of_b > 0) || std::abs(of_b / of_a - 1) < worth_saying) return;
  const auto text = [](double hertz) { return fmt::format("{:.0f} MHz", hertz / 1e6); };
  out.push_back(
      {What::clock, text(of_a), fmt::format("{}, {:+.1f} %", text(of_b), 100 * (of_b / of_a - 1))});
}

void add_runs(const RunSide& a, const RunSide& b, const OpComparer& ops,
              std::vector<Difference>& out) {
  if (ops.has_strangers(0)) out.push_back({What::runs_of_a, "", ""});
  if (ops.has_strangers(1)) out.push_back({What::runs_of_b, "", ""});
  const bool is_alone = a.runs().empty();
  if (!is_alone && !ops.matching().same_structure) out.push_back({What::compile, "", ""});
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

Result<Comparer> Comparer::make(std::span<const RunSamples> a, std::span<const RunSamples> b,
                                std::span<const RunSamples> beside_a,
                                std::span<const RunSamples> beside_b) {
  if (a.empty() || b.empty()) return usage_error("a comparison needs a run on either side");
  auto held = std::make_unique<Held>(a, b, beside_a, beside_b);
  bool any = held->ops.has_column();
  for (const std::string& name : held->names()) {
    const bool is_timeline = name == "wall";
    if (any && !is_timeline) continue;
    const auto outcome = compare_metric(held->a, held->b, name);
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

Result<Comparer> Comparer::alone(std::span<const RunSamples> b,
                                 std::span<const RunSamples> beside_b) {
  if (b.empty()) return usage_error("check needs a run");
  auto held = std::make_unique<Held>(std::span<const RunSamples>(), b,
                                     std::span<const RunSamples>(), beside_b);
  if (held->names().empty() && !held->ops.has_column()) {
    return usage_error("the profiles have no number that could be judged");
  }
  return Comparer(std::move(held));
}

bool Comparer::is_alone() const { return held_->sides().is_alone(); }

Comparison Comparer::compare(const CompareOptions& options) const {
  Comparison result;
  result.call = compare_call(held_->sides());
  for (const std::string& name : held_->names()) {
    auto outcome = compare_metric(held_->a, held_->b, name);
    if (outcome) {
      result.metrics.push_back(std::move(*outcome));
    } else {
      result.refused.push_back({name, outcome.error()});
    }
  }
  const MetricChange* counted = result.headline();
  if (counted == nullptr && !result.metrics.empty()) counted = &result.metrics.front();
  if (counted != nullptr) {
    result.samples[0] = counted->estimate.samples_a.size();
    result.samples[1] = counted->estimate.samples_b.size();
    result.cold[0] = counted->estimate.cold_a;
    result.cold[1] = counted->estimate.cold_b;
  }
  result.runs[0] = held_->a.runs().size();
  result.runs[1] = held_->b.runs().size();
  result.apart[0] = result.cold[0] ? 0 : held_->a.apart();
  result.apart[1] = result.cold[1] ? 0 : held_->b.apart();
  if (!is_alone()) {
    result.ops = held_->ops.compare(options);
    add_clock(held_->a, held_->b, result.differences);
    add_provenance(held_->a, held_->b, result.differences);
  }
  add_runs(held_->a, held_->b, held_->ops, result.differences);
  return result;
}

Result<MetricChange> Comparer::metric(std::string_view wanted) const {
  if (is_findings_metric(wanted)) return compare_findings(held_->sides(), wanted);
  const std::string name = is_call_metric(wanted) ? std::string(wanted) : held_->known_name(wanted);
  auto outcome = is_call_metric(name) ? compare_call_metric(held_->sides(), name)
                                      : compare_metric(held_->a, held_->b, name);
  if (outcome) return std::move(*outcome);
  return held_->refusal(name, outcome.error());
}

Result<MetricChange> Comparer::op_metric(const Pattern& pattern, std::string_view column,
                                         std::string_view text) const {
  return held_->ops.sum_of(pattern, column, text);
}

}  // namespace npuscope::analysis
