#include <algorithm>

#include "report/compare/compared_runs.hpp"
#include "report/compare/gate_text.hpp"
#include "report/identities/identities.hpp"
#include "report/show/show_sections.hpp"

namespace npuscope::report::identities {
namespace {

using namespace analysis;

void try_unchanged(const MetricChange& metric, Tried& tried) {
  const Estimate& of = metric.estimate;
  tried.holds("a number of a run is that of itself", of.a == of.b && of.delta() == 0,
              fmt::format("{}: {} and {}", metric.name, of.a, of.b));
  tried.holds("a run has no change from itself", of.verdict == ChangeVerdict::same, metric.name);
}

// What `check` measures is what it says, and the limit decides.
void try_gates(const MetricChange& metric, const Comparer& alone, const std::string& statistic,
               Tried& tried) {
  const double value = metric.estimate.b;
  if (!(value > 0) || metric.unit != MeasuredIn::seconds) return;
  const auto judged = [&](double limit) {
    const auto gate = read_gate(
        fmt::format("'{}'{} < {:.12g}ns", metric.name, statistic, limit * 1e9), GateForm::require);
    tried.holds("a gate is read", gate.has_value(), gate ? "" : gate.error().message);
    auto result = gate ? judge(*gate, alone) : tl::unexpected(gate.error());
    tried.holds("a gate is judged", result.has_value(), result ? "" : result.error().message);
    return result;
  };
  const auto above = judged(value * (1 + 1e-6)), below = judged(value * (1 - 1e-6));
  if (!above || !below) return;
  const std::string what = metric.name + statistic;
  tried.near("a gate measures what diff says", above->measured, value, what);
  tried.holds("a limit just above does not fail", above->outcome != GateOutcome::failed, what);
  tried.holds("a limit just below does not pass", below->outcome != GateOutcome::passed, what);
  const bool decides = above->doubt == GateDoubt::none && below->doubt == GateDoubt::none;
  if (!decides) return;
  tried.holds("a limit just above passes", above->outcome == GateOutcome::passed, what);
  tried.holds("a limit just below fails", below->outcome == GateOutcome::failed, what);
}

// Of the extremes of the samples, which need no certainty.
void try_extremes(const MetricChange& metric, const Comparer& alone, Tried& tried) {
  const auto& samples = metric.estimate.samples_b;
  if (samples.empty() || metric.unit != MeasuredIn::seconds || metric.estimate.cold_b) return;
  MetricChange extreme = metric;
  extreme.estimate.b = *std::ranges::max_element(samples);
  try_gates(extreme, alone, ".max", tried);
  extreme.estimate.b = *std::ranges::min_element(samples);
  try_gates(extreme, alone, ".min", tried);
}

const MetricChange* metric_named(const Comparison& comparison, std::string_view name) {
  for (const auto* metrics : {&comparison.call, &comparison.metrics}) {
    const auto found = std::ranges::find(*metrics, name, &MetricChange::name);
    if (found != metrics->end()) return &*found;
  }
  return nullptr;
}

// A latency of the first page is a number that diff compares and check judges: by its name in the
// files, and what runs are judged by where that is the same number of the files. Of the NPU it may
// be another one: `device_latency` is the innermost that is known, without waits and around it
// (docs/cli/diff.md), the page's "on the NPU" the outermost.
void try_latency(const Sample& sample, const Comparison& comparison, Tried& tried) {
  for (const report::LatencyRow& row : latency_of(sample.analysis).rows) {
    const auto seconds = row.warm_seconds ? row.warm_seconds
                         : row.seconds    ? row.seconds
                                          : row.cold_seconds;
    if (!seconds || !row.around.empty()) continue;
    const bool is_device = row.what == "on the NPU" || row.what == "emulated NPU";
    const auto is_it = [&](const MetricChange* metric) {
      if (metric == nullptr) return;
      const std::string detail =
          fmt::format("{} ({}) and {} ({})", row.what, row.name, metric->name, metric->source);
      if (metric->unit == MeasuredIn::seconds) {
        tried.near("latency of the first page is that of diff", *seconds, metric->estimate.b,
                   detail);
      }
    };
    const MetricChange* judged = metric_named(comparison, is_device ? "device_latency" : "latency");
    const MetricChange* number = metric_named(comparison, row.name);
    if (number == nullptr) number = metric_named(comparison, fmt::format("phase('{}')", row.name));
    const bool is_wall = row.what == "inference" && judged == nullptr;
    if (is_wall) number = metric_named(comparison, "wall");
    is_it(number);
    if (row.what == "call" || row.what == "step" || row.what == "inference") is_it(judged);
    if (judged != nullptr && judged->source == row.name) is_it(judged);
    tried.holds("a latency of the first page has a number in diff",
                judged != nullptr || number != nullptr, row.what);
    const bool is_within = is_device && judged != nullptr && judged->unit == MeasuredIn::seconds;
    if (is_within) {
      tried.at_most("device_latency <= on the NPU", judged->estimate.b, *seconds, judged->source);
    }
  }
}

}  // namespace

void try_comparison(const Sample& sample, Tried& tried) {
  const std::span<const Profile> side(&sample.profile(), 1);
  const auto sides = runs_of_sides(side, side, "");
  if (!sides) return;
  const auto compared = compare_runs(sides->a, sides->b);
  const auto samples = samples_of(sides->b.runs);
  const auto alone = Comparer::alone(samples);
  tried.holds("what compares with itself is judged alone",
              compared.has_value() == alone.has_value(), compared ? "diff only" : "check only");
  if (!compared || !alone) return;
  const Comparison of_itself = (*compared)->comparer->compare({.top = ~std::size_t{0}});
  const Comparison of_one = alone->compare({});
  (*compared)->diff.comparison = of_itself;
  try_words("diff", document_text(diff_document((*compared)->diff), 100), tried);
  for (const auto* metrics : {&of_itself.call, &of_itself.metrics}) {
    for (const MetricChange& metric : *metrics) {
      try_unchanged(metric, tried);
      const MetricChange* same = metric_named(of_one, metric.name);
      tried.holds("diff and check have the same numbers", same != nullptr, metric.name);
      if (same == nullptr) continue;
      tried.near("diff and check have the same values", metric.estimate.b, same->estimate.b,
                 metric.name);
    }
  }
  tried.holds("nothing is refused beside itself", of_itself.refused.empty());
  tried.holds("a run is what it is itself", of_itself.differences.empty());
  for (const OpDifference& row : of_itself.ops.rows) {
    tried.holds("no op changes beside itself",
                row.change == OpChange::same && row.estimate.a == row.estimate.b,
                fmt::format("{} {}", row.name_a, row.name_b));
  }
  for (const MetricChange& metric : of_itself.call) {
    try_gates(metric, *alone, "", tried);
    try_extremes(metric, *alone, tried);
  }
  if (const MetricChange* wall = metric_named(of_itself, "wall")) {
    try_gates(*wall, *alone, "", tried);
    try_gates(*wall, *alone, ".p50", tried);
    try_extremes(*wall, *alone, tried);
  }
  try_latency(sample, of_itself, tried);
}

}  // namespace npuscope::report::identities
