#include <algorithm>

#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace imbalance {

constexpr double min_excess = 0.15;
constexpr double min_gain = 0.01;

// How much longer the most active part is active than all are on average.
double active_excess(FindingContext& context, const std::string& parts) {
  const auto grouping = parts == "devices" ? UnitGrouping::device : UnitGrouping::core;
  const auto rows = context.analysis().unit_groups(grouping);
  double max = 0, sum = 0;
  for (const UnitGroupRow& row : rows) {
    max = std::max(max, double(row.active));
    sum += double(row.active);
  }
  return rows.empty() ? 0 : max - sum / double(rows.size());
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  const ImbalanceRow* worst = nullptr;
  for (const ImbalanceRow& row : context.analysis().imbalance()) {
    if (row.what != "work" || (row.parts != "cores" && row.parts != "devices")) continue;
    if (worst == nullptr || row.excess().value_or(0) > worst->excess().value_or(0)) worst = &row;
  }
  if (worst == nullptr || worst->excess().value_or(0) <= min_excess) return DoesNotApply{};
  const double gained = active_excess(context, worst->parts);
  if (gained < min_gain * context.wall()) return DoesNotApply{};
  Finding finding;
  finding.title = fmt::format("The most loaded of {} {} has {} more work than the mean",
                              worst->members, worst->parts, percent(*worst->excess()));
  finding.weight = Weight::high;
  const char* source = "units: IMBALANCE";
  finding.evidence = {
      count_evidence("members", worst->parts, worst->members, source),
      share_evidence("excess_of_mean", "work of the most loaded above the mean", *worst->excess(),
                     MeasureKind::work, source, worst->most_loaded),
      ticks_evidence("most_work", "its work", worst->max, MeasureKind::work, source,
                     worst->most_loaded),
      ticks_evidence("mean_work", "the mean work", worst->mean, MeasureKind::work, source),
      ticks_evidence("least_work", "the min work", worst->min, MeasureKind::work, source,
                     worst->least_loaded)};
  finding.gain =
      context.gain_of_wall(gained, "the longest active time of one of them, less the mean of all");
  finding.advice = context.words(
      {.usual = "Look at ops and output bytes in npuscope units, IMBALANCE: where the compiler "
                "gave out unequal shares, another split helps (a dimension that the number of "
                "cores divides, other slices of experts or heads); where shares are equal and "
                "times are not, look for the ops that are slow on that core.",
       .sigmastar_ipu =
           "Each core takes half of a layer's rows, images or output channels: a layer whose "
           "sizes do not halve leaves one core waiting. Look at ops and output bytes in "
           "npuscope units, IMBALANCE, and choose even sizes or an even batch; where shares "
           "are equal and times are not, look for the ops that are slow on that core."});
  return finding;
}

}  // namespace imbalance

const Rule imbalance_rule{
    {"imbalance", "cores or devices with unequal work",
     "Work of each core and device (npuscope units, IMBALANCE; without the op that writes "
     "statistics). Gain: the longest active time of one of them less the mean of all.",
     "the most loaded has 15 % more work than the mean, and the gain is 1 % of the wall",
     "15 %: the bound that users of Cloud AI 100 apply to core imbalance",
     "Parts that finish early and wait look alike in wall time: that is why work is compared. "
     "Unequal work off the critical path costs nothing."},
    imbalance::apply};

}  // namespace npuscope::analysis
