#include <algorithm>
#include <cmath>

#include "analysis/answers.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/units/busy_together.hpp"
#include "profile/union_of_many.hpp"

namespace npuscope::analysis {
namespace mostly_empty {

constexpr double max_share = 0.1;  // of the wall, that the stretch with the work takes
constexpr double min_work = 0.9;   // of all, that lies in it
constexpr double min_gap = 0.01;   // of the wall, that parts two stretches

struct Stretch {
  Interval time;
  std::int64_t busy = 0;
};

// Of stretches of work with long gaps between them, the one with most.
Stretch busiest_stretch(const IntervalSet& busy, double wall) {
  Stretch best, now;
  for (const Interval& interval : busy) {
    const bool is_apart =
        now.busy > 0 && double(saturating_subtract(interval.begin, now.time.end)) >= min_gap * wall;
    if (now.busy == 0 || is_apart) now = {interval, 0};
    now.time.end = interval.end;
    now.busy = saturating_add(now.busy, length_of(interval));
    if (now.busy > best.busy) best = now;
  }
  return best;
}

// As --from and --to read it; whole nanoseconds or ticks, so that nothing is cut off.
std::string time_text(FindingContext& context, std::int64_t ticks, bool rounds_up) {
  const Profile& profile = context.profile();
  const std::size_t base = index_of(profile.base_clock);
  const double rate = base < profile.clocks.size() ? profile.clocks[base].rate.value : 0;
  const auto start = context.analysis().timeline_extent().begin;
  const double since = double(saturating_subtract(ticks, start));
  if (!(rate > 0)) return fmt::format("{:.0f}ticks", since);
  const double microseconds = since / rate * 1e6;
  const double thousandths =
      rounds_up ? std::ceil(microseconds * 1e3) : std::floor(microseconds * 1e3);
  return fmt::format("{:.3f}us", thousandths / 1e3);
}

RuleOutcome apply(FindingContext& context) {
  if (!(context.wall() > 0) || !context.analysis().coarse().has_parts()) {
    return Missing{"a timeline of units"};
  }
  const BusyTogether& together = context.analysis().busy_together();
  std::vector<const IntervalSet*> sets;
  for (const IntervalSet& of_domain : together.domains) sets.push_back(&of_domain);
  const SeenUnion busy(std::move(sets));
  const Stretch stretch = busiest_stretch(busy.all(), context.wall());
  const double length = double(length_of(stretch.time)), all = double(length_of(busy.all()));
  if (!(length > 0) || length > max_share * context.wall()) return DoesNotApply{};
  if (double(stretch.busy) < min_work * all) return DoesNotApply{};
  Finding finding;
  const std::string window =
      fmt::format("--from {} --to {}", time_text(context, stretch.time.begin, false),
                  time_text(context, stretch.time.end, true));
  finding.title =
      fmt::format("{:.2g} % of the wall holds {} of the work: {}", 100 * length / context.wall(),
                  percent(double(stretch.busy) / all), window);
  finding.weight = Weight::high;
  finding.evidence = {
      ticks_evidence("stretch", "from the first work to the last of that stretch", length,
                     MeasureKind::wall, "timeline"),
      ticks_evidence("stretch_begin", "its start, after the first start",
                     double(saturating_subtract(stretch.time.begin,
                                                context.analysis().timeline_extent().begin)),
                     MeasureKind::wall, "timeline"),
      ticks_evidence("wall", "the wall", context.wall(), MeasureKind::wall, "show: WALL"),
      share_evidence("stretch_share_of_wall", "the stretch, of the wall", length / context.wall(),
                     MeasureKind::wall, "timeline")};
  finding.places = {{UnitId::none, stretch.time}};
  finding.no_gain =
      "it affects interpretation only: shares of the wall are shares of an empty window";
  finding.advice =
      fmt::format("Look at that part alone: {}, in this and every other command.", window);
  return finding;
}

}  // namespace mostly_empty

const Rule mostly_empty_rule{
    {"mostly-empty", "a window much longer than the work in it",
     "When anything worked, cut at gaps of a hundredth of the wall; the stretch with most work "
     "against "
     "the wall.",
     "90 % of the work in 10 % of the wall or less", "both npuscope's own",
     "A trace of many stretches far apart, such as requests that come rarely."},
    mostly_empty::apply};

}  // namespace npuscope::analysis
