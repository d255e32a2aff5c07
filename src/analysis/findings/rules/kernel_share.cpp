#include "analysis/findings/rules/kernel_share.hpp"

#include "analysis/findings/places.hpp"

namespace npuscope::analysis {

RuleOutcome kernel_share(FindingContext& context, const KernelShare& rule) {
  constexpr double min_share = 0.1;
  if (context.profile().ops.empty()) return Missing{"ops"};
  const auto times = context.kernel_times({rule.kernel});
  if (times.empty() || times.front().share < min_share) return DoesNotApply{};
  const KernelTime& each = times.front();
  const bool timed = context.has_timeline();
  Finding finding;
  finding.title =
      fmt::format("{} {} of {}", rule.title, percent(each.share), timed ? "the wall" : "all ops");
  Evidence time = ticks_evidence("time", rule.kernel, each.time, each.kind, "ops: by kernel");
  time.clock = each.clock;
  finding.evidence = {std::move(time),
                      share_evidence("share", timed ? "share of wall" : "share of all ops",
                                     each.share, each.kind, "ops: by kernel")};
  if (each.runs > 0) {
    finding.evidence.push_back(
        count_evidence("runs", "executions", double(each.runs), "ops: by kernel"));
  }
  finding.advice = context.words(rule.advice);
  if (!timed) {
    finding.no_gain = context.why_no_path();
    return finding;
  }
  const std::vector<bool> ops = context.ops_of({rule.kernel});
  finding.places = places_of_ops(context, ops);
  return trial_of(std::move(finding), factors_of(ops, 0), "they take no time");
}

}  // namespace npuscope::analysis
