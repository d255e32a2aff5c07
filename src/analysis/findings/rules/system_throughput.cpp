#include "analysis/findings/rules/rules.hpp"
#include "analysis/latency.hpp"

namespace npuscope::analysis {
namespace system_throughput {

constexpr double min_share = 0.1;

const char* advice(ThroughputGap cause) {
  switch (cause) {
    case ThroughputGap::input_wait:
      return "The device waits for its inputs: keep more inferences queued (-S), prepare inputs "
             "beside the device's work, send less per inference (state that stays on the device, "
             "narrower types), or use more host threads. Optimising the network gains nothing "
             "here.";
    case ThroughputGap::output_wait:
      return "The device waits until its outputs have left: send less per inference, or keep state "
             "on the device (-retained-state).";
    default:
      return "Look at what the host does between submitting one inference and the next "
             "(npuscope latency of a latency file): the device's own waits do not show it.";
  }
}

RuleOutcome apply(FindingContext& context) {
  const Latency latency = analyse_latency(context.profile());
  if (!latency.throughput) return Missing{"a runner's log or latency file with device times"};
  const Throughput& rate = *latency.throughput;
  if (rate.gap_share < min_share) return DoesNotApply{};
  const Profile& profile = context.profile();
  const double hertz = profile.clocks[index_of(profile.base_clock)].rate.value;
  const char* unit = rate.batch > 0 ? "inferences/s" : "batches/s";
  const char* source = "latency: THROUGHPUT";
  const auto number = [&](const char* key, const std::string& what, double value) {
    return Evidence{key, what, value, EvidenceQuantity::number, MeasureKind::count, source};
  };
  const auto seconds = [&](const char* key, const char* what, double ticks) {
    return seconds_evidence(key, what, ticks / hertz, MeasureKind::wall, source);
  };
  Finding finding;
  finding.title = fmt::format("The system reaches {:.1f} {}, the device alone {:.1f}",
                              rate.system_inferences(), unit, rate.device_inferences());
  finding.weight = Weight::high;
  finding.evidence = {
      number("device_rate", std::string("the device alone, ") + unit, rate.device_inferences()),
      number("system_rate", std::string("the system, ") + unit, rate.system_inferences()),
      seconds("period_seconds", "between two batches", rate.period),
      seconds("execution_seconds", "of that, the device executes", rate.execution),
      seconds("input_wait_seconds", "it waits for inputs", rate.input_wait),
      seconds("output_wait_seconds", "it waits for outputs to leave", rate.output_wait)};
  Gain gain;
  gain.ticks = (rate.period - rate.execution) / hertz;
  gain.share = rate.gap_share;
  gain.of_wall = false;
  gain.of = "the time of a batch";
  gain.how = "batches follow one another on the device without a break";
  finding.gain = std::move(gain);
  finding.advice = advice(rate.cause);
  return finding;
}

}  // namespace system_throughput

const Rule system_throughput_rule{
    {"system-throughput", "a device that could do more inferences than the system does",
     "Device: 1 / mean execution. System: batches by the run's duration (a runner's log), or "
     "batches "
     "under way by mean round trip (a latency file). Gain: what lies between two executions.",
     "10 % of the device's rate",
     "10 %: the vendor's notebook says that the two should be close, the system slightly below, "
     "and "
     "to analyse the host where they differ by a wide margin",
     "In a log, how many activations shared the work: so many are taken as the device's times "
     "need. "
     "Times of a device that was instrumented at level 70 or more are longer than others."},
    system_throughput::apply};

}  // namespace npuscope::analysis
