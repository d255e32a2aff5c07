#include <algorithm>

#include "analysis/findings/rules/rules.hpp"

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

const Rule aggregate_read_as_wall_rule{
    {"aggregate-read-as-wall", "cycles by microseconds above the clock: a sum over threads",
     "The cycles that qnn-profile-viewer prints for an execution by its time in the phase Graph "
     "Execute (else execute excluding wait), against the clock of that phase.",
     "2 % above the clock; where that is not known above 2.0 GHz",
     "the tell-tale of Qualcomm HTP users: cycles by time above the core clock (1.0 to 2.0 GHz on "
     "HTP v73 to v79) is an aggregate",
     "A sum over threads that are idle most of the time stays below the clock."},
    aggregate_read_as_wall::apply};

}  // namespace npuscope::analysis
