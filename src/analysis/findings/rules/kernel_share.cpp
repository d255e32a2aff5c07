#include "analysis/findings/rules/kernel_share.hpp"

namespace npuscope::analysis {

RuleOutcome kernel_share(FindingContext& context, const KernelShare& rule) {
  constexpr double min_share = 0.1;
  if (context.profile().ops.empty()) return Missing{"ops"};
  const auto times = context.kernel_times({rule.kernel});
  if (times.empty() || times.front().share < min_share) return DoesNotApply{};
  const KernelTime& each = times.front();
  const bool timed = context.has_timeline();
  Finding finding;
  finding.title = rule.title;
  Evidence time = ticks_evidence("time", rule.kernel, each.time, each.kind, "ops: by kernel");
  time.clock = each.clock;
  finding.evidence = {std::move(time),
                      share_evidence("share", timed ? "that, of the wall" : "that, of all ops",
                                     each.share, each.kind, "ops: by kernel")};
  if (each.runs > 0) {
    finding.evidence.push_back(
        count_evidence("runs", "executions", double(each.runs), "ops: by kernel"));
  }
  if (timed) finding.gain = context.gain_if(context.ops_of({rule.kernel}), 0, "they take no time");
  if (!finding.gain) finding.no_gain = context.why_no_path();
  finding.advice = context.words(rule.advice);
  return finding;
}

}  // namespace npuscope::analysis
