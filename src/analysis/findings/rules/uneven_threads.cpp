#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/units/unit_busy.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace uneven_threads {

constexpr double min_excess = 0.15;  // of an op's busiest thread above the mean
constexpr double min_gain = 0.02;    // of the wall
constexpr std::size_t ops_named = 3;

// One op in one inference: what its tiles took on each thread of a core.
struct Sliced {
  std::map<UnitId, double> of_thread;
  std::size_t tiles = 0;
};
using Key = std::pair<OpId, std::uint32_t>;

std::map<Key, Sliced> sliced_ops(const Profile& profile) {
  const Spans& spans = profile.spans;
  std::map<Key, Sliced> ops;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (role_of(spans.kind[row]) != Role::work || index_of(spans.op[row]) >= profile.ops.size() ||
        engine_of(profile, row) != Engine::hvx) {
      continue;
    }
    const std::uint32_t instance = spans.instance.empty() ? 0 : spans.instance[row];
    Sliced& op = ops[{spans.op[row], instance}];
    op.of_thread[spans.unit[row]] += double(spans.duration[row]);
    op.tiles += 1;
  }
  return ops;
}

// Time in which exactly one HVX thread works.
double one_thread_alone(FindingContext& context) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const UnitBusy& unit : context.analysis().unit_busy()) {
    const std::size_t index = index_of(unit.unit);
    if (index >= context.profile().units.size() ||
        context.profile().units[index].engine != Engine::hvx) {
      continue;
    }
    for (const Interval& interval : unit.busy) {
      changes.push_back({interval.begin, 1});
      changes.push_back({interval.end, -1});
    }
  }
  std::sort(changes.begin(), changes.end());
  double alone = 0;
  int working = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    working += changes[i].second;
    if (working == 1) alone += double(changes[i + 1].first - changes[i].first);
  }
  return alone;
}

struct Uneven {
  double excess = 0;  // ticks of the busiest thread above an even share, summed over its runs
  double even = 0;    // of such a share
  std::size_t tiles = 0, runs = 0;
};

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{"a timeline of units"};
  const double threads = context.hvx_threads();
  if (threads < 2) return DoesNotApply{};
  const Profile& profile = context.profile();
  std::vector<double> factors(profile.ops.size(), 1);
  std::map<StringId, Uneven> kinds;
  for (const auto& [key, op] : sliced_ops(profile)) {
    if (op.of_thread.size() < 2) continue;
    double sum = 0, max = 0;
    for (const auto& [unit, time] : op.of_thread) {
      sum += time;
      max = std::max(max, time);
    }
    const double even = sum / threads;
    if (!(even > 0) || max <= (1 + min_excess) * even) continue;
    double& factor = factors[index_of(key.first)];
    factor = std::min(factor, even / max);
    Uneven& kind = kinds[profile.ops[index_of(key.first)].kind];
    kind.excess += max - even;
    kind.even += even;
    kind.tiles += op.tiles;
    kind.runs += 1;
  }
  if (kinds.empty()) return DoesNotApply{};
  auto gain = context.gain_if(factors, "their tiles take an even share of every thread");
  if (!gain || gain->share < min_gain) return DoesNotApply{};
  std::vector<std::pair<StringId, Uneven>> worst(kinds.begin(), kinds.end());
  std::stable_sort(worst.begin(), worst.end(),
                   [](const auto& a, const auto& b) { return a.second.excess > b.second.excess; });
  const double alone = one_thread_alone(context);
  Finding finding;
  finding.title =
      fmt::format("HVX threads are loaded unevenly: one works alone for {:.1f} % of the wall",
                  alone / context.wall() * 100);
  finding.weight = Weight::medium;
  finding.evidence = {
      count_evidence("hvx_threads", "HVX threads of a core", threads, "units: UNITS"),
      ticks_evidence("one_thread_alone", "exactly one HVX thread works", alone, MeasureKind::wall,
                     "timeline"),
      share_evidence("one_thread_alone_share_of_wall", "share of wall", alone / context.wall(),
                     MeasureKind::wall, "timeline")};
  for (std::size_t i = 0; i < std::min(worst.size(), ops_named); ++i) {
    const auto& [kind, uneven] = worst[i];
    const std::string name(profile.text(kind));
    finding.evidence.push_back(count_evidence("tiles_per_run", "tiles of an execution, mean",
                                              double(uneven.tiles) / double(uneven.runs), "ops",
                                              name));
    finding.evidence.push_back(ticks_evidence("excess",
                                              "busiest thread above an even share, all executions",
                                              uneven.excess, MeasureKind::work, "timeline", name));
  }
  finding.gain = std::move(gain);
  finding.places = places_of_ops(context, factors);
  finding.advice =
      "Make the number of tiles a multiple of the threads, and tiles equal: of 6 tiles on 4 "
      "threads "
      "two run in a second wave while two threads stand still. Smaller tiles even out what is "
      "left; "
      "where the op declares its own tiling, split the dimension that the threads divide.";
  return finding;
}

}  // namespace uneven_threads

const Rule uneven_threads_rule{
    {"uneven-threads", "vector threads of a core with unequal shares of an op's tiles",
     "The work of each op on each HVX thread, inference by inference; an op counts where its "
     "busiest "
     "thread has more than an even share of all threads. Gain: the wall's longest path with the "
     "tiles of each such op scaled so that the busiest thread has an even share.",
     "the busiest thread 15 % above an even share; the gain is 2 % of the wall",
     "the case of a custom op with 6 tiles on 4 threads, found by Qualcomm HTP users; shares are "
     "npuscope's own",
     "Ops that run on one thread only (one-thread-op). Threads that other ops use at the same "
     "time: "
     "an even share may not be free."},
    uneven_threads::apply};

}  // namespace npuscope::analysis
