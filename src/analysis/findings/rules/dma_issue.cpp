#include "analysis/findings/rules/stated_use.hpp"

namespace npuscope::analysis {
namespace dma_issue {

constexpr double min_factor = 2, min_difference = 0.1;

RuleOutcome apply(FindingContext& context) {
  Finding finding;
  double issue = 0, transfers = 0;
  constexpr const char* text = "DMA transfers take {} of the time, their issue {}";
  std::string shares;  // as timelines draw them
  if (context.has_timeline()) {
    issue = context.domain_share(Engine::dma_issue);
    transfers = context.domain_share(Engine::dma);
    if (issue == 0 || transfers == 0) return DoesNotApply{};
    shares = fmt::format(text, percent(context.active_share(Engine::dma)),
                         percent(context.active_share(Engine::dma_issue)));
    finding.evidence = {
        share_evidence("issue_domain_share_of_wall", "DMA issue, the busiest thread, of the wall",
                       issue, MeasureKind::domain, "units: HARDWARE"),
        share_evidence("dma_domain_share_of_wall", "transfers, the busiest engine, of the wall",
                       transfers, MeasureKind::domain, "units: HARDWARE")};
  } else {
    const auto stated = stated_use(context, Engine::dma_issue);
    const auto in_flight = transfers_of_cores_time(context);
    if (!stated || !in_flight) return Missing{"the issue of transfers apart from transfers"};
    issue = stated->share;
    transfers = *in_flight;
    shares = fmt::format(text, percent(transfers), percent(issue));
    finding.evidence = {
        share_evidence("issue_stated_use", "DMA issue, the busiest thread, of its time", issue,
                       MeasureKind::unit_busy, "units: REPORTED BY THE FILES", stated->unit),
        share_evidence("dma_work_share_of_cores_time",
                       "transfers of DDR, issue to completion, of the wall of all cores", transfers,
                       MeasureKind::work, "ops: ucycles of aiccopy…")};
  }
  if (transfers < min_factor * issue || transfers - issue < min_difference) {
    return DoesNotApply{};
  }
  finding.title = std::move(shares);
  finding.weight = Weight::low;
  finding.no_gain = "affects interpretation only";
  finding.advice =
      "Ignore the utilisation of the DMA issue thread: it only starts transfers, which go on "
      "without "
      "it. Judge memory by the time of the transfers and by the bytes (npuscope memory).";
  return finding;
}

}  // namespace dma_issue

const Rule dma_issue_rule{
    {"dma-issue-utilisation", "a low DMA issue utilisation beside long transfers",
     "The busiest issue thread's share of the wall against that of the busiest DMA engine; of a "
     "summary the stated utilisation against the ucycles of copies, which last from issue to "
     "completion.",
     "transfers at least twice the issue, and 10 points of the wall more",
     "the vendor's notebook on Cloud AI 100 says to ignore it; the bounds are npuscope's own",
     "HTP traces, which record the issue only."},
    dma_issue::apply};

}  // namespace npuscope::analysis
