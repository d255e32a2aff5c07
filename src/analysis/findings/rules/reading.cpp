// Rules about how numbers are to be read.
#include <algorithm>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/latency.hpp"
#include "analysis/units/unit_numbers.hpp"

namespace npuscope::analysis {

namespace aggregate_read_as_wall {

// No HTP clock above it has been seen; used where the profile does not tell its clock.
constexpr double highest_clock_hz = 2.0e9;
constexpr double tolerance = 1.02;

struct Executed {
  double seconds = 0;  // of the graph, without waiting for its resources
  double clock_hz = 0;
  bool clock_known = false;
};

bool is_work_in_cycles(const Profile& profile, const NumberRow& row) {
  if (row.subject != Measure::Subject::profile || row.kind != MeasureKind::work) return false;
  const std::size_t clock = index_of(row.clock);
  return clock < profile.clocks.size() && profile.clocks[clock].kind == ClockKind::unit_cycles;
}

// How long one execution took: of those after the first where there are some.
std::optional<Executed> executed(FindingContext& context) {
  for (const PhaseRow& row : context.analysis().phases()) {
    if (context.profile().text(row.name) != "Graph Execute") continue;
    if (row.microseconds.count == 0 || row.hertz.count == 0) continue;
    const bool known = row.hertz.median_of_rest > 0;
    return Executed{row.microseconds.median_of_rest * 1e-6,
                    known ? row.hertz.median_of_rest : highest_clock_hz, known};
  }
  for (const NumberRow& row : context.numbers()) {
    if (row.meaning.role != NumberRole::accelerator_execute_alone) continue;
    const std::size_t clock = index_of(row.clock);
    if (clock >= context.profile().clocks.size()) continue;
    const double rate = context.profile().clocks[clock].rate.value;
    if (rate > 0) return Executed{row.values.median_of_rest / rate, highest_clock_hz, false};
  }
  return std::nullopt;
}

RuleOutcome apply(FindingContext& context) {
  const auto execution = executed(context);
  const NumberRow* max = nullptr;
  for (const NumberRow& row : context.numbers()) {
    const bool of_executes = row.values.count > 0 && row.meaning.role == NumberRole::execute_cycles;
    if (!of_executes || !is_work_in_cycles(context.profile(), row)) continue;
    if (max == nullptr || row.values.median_of_rest > max->values.median_of_rest) max = &row;
  }
  if (max == nullptr) return Missing{"cycles of an execution as a tool sums them"};
  if (!execution || !(execution->seconds > 0)) return Missing{"the time of an execution"};
  const double implied = max->values.median_of_rest / execution->seconds;
  if (implied <= tolerance * execution->clock_hz) return DoesNotApply{};
  Finding finding;
  finding.title =
      fmt::format("Execution cycles imply {:.2f} GHz: a sum over threads", implied / 1e9);
  finding.weight = Weight::low;
  Evidence cycles =
      ticks_evidence("cycles", "cycles of an execution, median after the first",
                     max->values.median_of_rest, MeasureKind::work, "show: NUMBERS OF THE RUN",
                     std::string(context.profile().text(max->what)));
  cycles.clock = max->clock;
  finding.evidence = {
      std::move(cycles),
      seconds_evidence("execution_seconds", "its time, median after the first", execution->seconds,
                       MeasureKind::wall, "show: PHASES, NUMBERS OF THE RUN"),
      hertz_evidence("implied_hz", "clock that these would mean", implied, "derived"),
      hertz_evidence("clock_hz",
                     execution->clock_known ? "clock of the core meanwhile"
                                            : "highest clock seen of such hardware",
                     execution->clock_hz, execution->clock_known ? "show: PHASES" : "literature")};
  finding.no_gain = "affects interpretation only";
  finding.advice =
      "Do not quote these cycles as latency, and do not compare them between graphs that use "
      "different numbers of threads: they are the volume of work. The wall is that of the "
      "timeline, "
      "or of the phase Graph Execute.";
  return finding;
}

}  // namespace aggregate_read_as_wall

const Rule aggregate_read_as_wall_rule{"aggregate-read-as-wall", aggregate_read_as_wall::apply};

namespace uncounted_waits {

constexpr double min_difference = 0.05;

struct Lane {
  const UnitRow* row = nullptr;
  double stated = 0;  // share of the wall, waits included
};

// The lane whose stated utilisation has most waits in it.
Lane worst_lane(FindingContext& context) {
  const UnitNumbers& numbers = context.analysis().unit_numbers();
  Lane worst;
  double max = 0;
  for (std::size_t i = 0; i < numbers.row_count(); ++i) {
    for (const UnitNumber& number : numbers.row(i)) {
      if (!numbers.columns[number.column].is_utilization()) continue;
      for (const UnitRow& row : context.analysis().units().units) {
        if (row.unit != number.unit || row.waiting <= 0) continue;
        const double difference = number.value / 100 - double(row.busy) / context.wall();
        if (difference <= max) continue;
        max = difference;
        worst = {&row, number.value / 100};
      }
    }
  }
  return worst;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  if (context.analysis().unit_numbers().row_count() == 0)
    return Missing{"utilisation as a file states it"};
  const Lane lane = worst_lane(context);
  if (lane.row == nullptr) return DoesNotApply{};
  const double busy = double(lane.row->busy) / context.wall();
  if (lane.stated - busy < min_difference) return DoesNotApply{};
  Finding finding;
  const Profile& profile = context.profile();
  const std::string unit = path_of(profile, lane.row->unit);
  finding.title = fmt::format("The stated utilisation of {} counts waits; without them it is {}",
                              percent(lane.stated), percent(busy));
  finding.weight = Weight::medium;
  finding.evidence = {
      share_evidence("stated_utilisation", "utilisation as the file states it, of the wall",
                     lane.stated, MeasureKind::unit_busy, "units: REPORTED BY THE FILES", unit),
      share_evidence("busy_share_of_wall", "busy without waits, of the wall", busy,
                     MeasureKind::unit_busy, "units: UNITS", unit),
      ticks_evidence("waiting", "waits on it", double(lane.row->waiting), MeasureKind::unit_busy,
                     "units: UNITS", unit)};
  const Engine engine = profile.units[index_of(lane.row->unit)].engine;
  for (const EngineRow& row : context.analysis().units().engines) {
    if (row.engine != engine) continue;
    finding.evidence.push_back(share_evidence(
        "domain_share_of_wall", std::string("work that uses ") + name_of(engine) + ", of the wall",
        double(row.domain) / context.wall(), MeasureKind::domain, "units: HARDWARE"));
  }
  finding.places = places_where(
      context,
      [&](UnitId of, const SpanOfUnit& span) {
        return of == lane.row->unit && role_of(span.kind) == Role::wait;
      },
      no_spans());
  for (EvidencePlace& place : finding.places) place.unit = lane.row->unit;
  finding.no_gain = "affects interpretation only";
  finding.advice =
      "Do not read a lane as its hardware: on the HTP the lane named HMX is the main thread, which "
      "also issues DMA, waits for it and runs scalar code. Take the work by what each op uses "
      "(npuscope units, HARDWARE).";
  return finding;
}

}  // namespace uncounted_waits

const Rule uncounted_waits_rule{"uncounted-waits", uncounted_waits::apply};

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

const Rule system_throughput_rule{"system-throughput", system_throughput::apply};

}  // namespace npuscope::analysis
