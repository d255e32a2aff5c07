#include <algorithm>
#include <map>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"

namespace npuscope::analysis {
namespace dispatch_bound {

constexpr double min_share = 0.05;
constexpr std::uint64_t min_steps = 8;

// With several units at work and no dependencies, a start may wait for anything.
bool knows_dependencies(FindingContext& context) {
  const Profile& profile = context.profile();
  return !profile.edges.empty() || !profile.flows.empty() ||
         context.analysis().units().units.size() < 2;
}

// What a thread of the host does between two functions, a trace of functions does not tell.
bool is_of_host_thread(const Profile& profile, const PathStep& step) {
  const std::size_t unit = index_of(step.unit);
  const bool is_thread =
      unit < profile.units.size() && profile.units[unit].engine == Engine::thread;
  return is_thread && domain_of(profile, step.row) == Domain::host;
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  // Where ops have windows, time between their spans is of the ops (window-bound).
  if (context.profile().spans.measure(NumberRole::op_window) != nullptr) return DoesNotApply{};
  if (!knows_dependencies(context)) return Missing{"dependencies between ops"};
  const PathAnalysis* paths = context.path();
  if (paths == nullptr) return Missing{"work on a critical path"};
  const CriticalPath path = paths->observed();
  double gaps = 0, work = 0;
  std::uint64_t steps = 0;
  std::map<std::uint32_t, double> gaps_of_op;
  std::vector<EvidencePlace> places;
  for (const PathStep& step : path.steps) {
    if (step.reason == Reason::start || is_of_host_thread(context.profile(), step)) continue;
    const auto gap = double(step.gap_parts[std::size_t(GapPart::unrecorded)]);
    if (!(gap > double(step.duration))) continue;
    steps += 1;
    gaps += gap;
    work += double(step.duration);
    gaps_of_op[index_of(step.op)] += gap;
    places.push_back({step.unit, {step.start - step.gap, step.start}});
  }
  if (!(path.wall > 0) || steps < min_steps || gaps < min_share * double(path.wall))
    return DoesNotApply{};
  const auto worst = std::max_element(gaps_of_op.begin(), gaps_of_op.end(),
                                      [](auto& a, auto& b) { return a.second < b.second; });
  Finding finding;
  finding.title = fmt::format("Unexplained waits before short ops take {} of the wall",
                              percent(gaps / double(path.wall)));
  finding.weight = Weight::high;
  const char* source = "path: STEPS";
  finding.evidence = {
      count_evidence("steps", "steps of the critical path that waited longer than they worked",
                     double(steps), source),
      ticks_evidence("gaps", "their waits that no sync, barrier or transfer explains", gaps,
                     MeasureKind::wall, source),
      ticks_evidence("work", "their own work", work, MeasureKind::wall, source)};
  const Profile& profile = context.profile();
  if (worst->first < profile.ops.size()) {
    finding.evidence.push_back(ticks_evidence(
        "longest_gaps", "the longest of these waits, of an op", worst->second, MeasureKind::wall,
        source, std::string(profile.text(profile.ops[worst->first].name))));
  }
  finding.places = longest_places(std::move(places));
  finding.gain = context.gain_of_wall(gaps, "all of these waits", double(path.wall));
  finding.advice = context.words(
      {.usual = "Fewer, larger ops: fuse chains of small ones into one kernel, batch what is done "
                "row by row, let the compiler fold constants. One custom op that computes more "
                "can beat hundreds of small ones.",
       .sigmastar_ipu =
           "Fewer, larger layers: let small operators follow one another so that they are "
           "fused into one layer (npuscope ipu operators lists the groups), fold constants "
           "before the model is converted, and put several images into a batch."});
  return finding;
}

}  // namespace dispatch_bound

const Rule dispatch_bound_rule{"dispatch-bound-ops", dispatch_bound::apply, true};

}  // namespace npuscope::analysis
