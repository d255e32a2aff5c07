#include <algorithm>
#include <map>

#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace overrun {

struct Overran {
  std::uint64_t spans = 0;
  double recorded = 0;
};

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  const Profile& profile = context.profile();
  std::map<std::uint32_t, Overran> of_ops;
  Overran all;
  for (const Measure& measure : profile.measures) {
    if (measure.meaning.role != NumberRole::recorded_duration) continue;
    if (measure.subject != Measure::Subject::span) continue;
    if (measure.subject_id >= profile.spans.size()) continue;
    Overran& of = of_ops[index_of(profile.spans.op[measure.subject_id])];
    for (Overran* each : {&of, &all}) {
      each->spans += 1;
      each->recorded += measure.value;
    }
  }
  if (all.spans == 0) return DoesNotApply{};
  const auto worst = std::max_element(
      of_ops.begin(), of_ops.end(),
      [](const auto& a, const auto& b) { return a.second.recorded < b.second.recorded; });
  const std::string name = worst->first < profile.ops.size()
                               ? std::string(profile.text(profile.ops[worst->first].name))
                               : std::string();
  Finding finding;
  finding.title = fmt::format(
      "Recorded durations of {} executions of {} ran over the next ones of their stream",
      worst->second.spans, name);
  finding.weight = Weight::high;
  finding.evidence = {
      count_evidence("spans_cut", "executions, cut where the next begins", double(all.spans),
                     "query: spans"),
      ticks_evidence("recorded_time", "as the file states them", worst->second.recorded,
                     MeasureKind::work, "query: measures", name)};
  finding.no_gain = "affects the recording only";
  finding.advice =
      "Do not trust the times of these ops: a stream executes in order, so an execution ends "
      "before "
      "the next begins; here it is cut there, which is the most that it can have taken. Record "
      "again with a newer version of the profiler.";
  return finding;
}

}  // namespace overrun

const Rule overrun_rule{
    {"overrun", "executions that run over the next ones of a stream in order",
     "Executions of a track that executes in order which enclose the next one, by the roles of "
     "the trace (in_order).",
     "1 execution",
     "a recorder's durations of seconds for kernels of 20 us, reported of GPU traces",
     "Executions that overlap in part: the end of one may run beside the next."},
    overrun::apply};

}  // namespace npuscope::analysis
