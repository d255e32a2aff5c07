#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "analysis/findings/places.hpp"
#include "analysis/findings/rules/rules.hpp"
#include "analysis/ops/op_spans.hpp"
#include "analysis/timeline/span_engines.hpp"
#include "analysis/units/unit_busy.hpp"
#include "base/parallel.hpp"
#include "base/per_thread.hpp"
#include "base/sort_rows.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::analysis {
namespace uneven_threads {

constexpr double min_excess = 0.15;  // of an op's busiest thread above the mean
constexpr double min_gain = 0.02;    // of the wall
constexpr std::size_t ops_named = 3;

// What one of an op's tiles took.
struct Tile {
  std::uint32_t instance = 0;
  UnitId unit{};
  std::int64_t ticks = 0;
};

// The work of an op's spans on HVX threads, that of one inference next to each other.
class TilesOfOp {
 public:
  explicit TilesOfOp(const Analysis& analysis)
      : engines_(analysis.profile()), by_op_(analysis.spans_by_op()) {}

  std::span<const Tile> of(std::size_t op) {
    std::vector<Tile>& tiles = tiles_.mine();
    tiles.clear();
    for (const KeptOpSpan& span : by_op_->of(op)) {
      if (role_of(span.kind()) != Role::work ||
          engines_.of(span.op, span.unit, span.kind()) != Engine::hvx) {
        continue;
      }
      tiles.push_back({by_op_->instance(span), span.unit, length_of(by_op_->interval(span))});
    }
    if (!std::ranges::is_sorted(tiles, {}, &Tile::instance)) {
      sort_rows(tiles, {}, &Tile::instance);
    }
    return tiles;
  }

 private:
  const SpanEngines engines_;
  const std::shared_ptr<const OpSpansInGroups> by_op_;
  PerThread<std::vector<Tile>> tiles_;
};

// Time in which exactly one HVX thread works.
double one_thread_alone(FindingContext& context) {
  std::vector<const IntervalSet*> busy;
  for (const UnitBusy& unit : context.analysis().unit_busy()) {
    const std::size_t index = index_of(unit.unit);
    if (index >= context.profile().units.size() ||
        context.profile().units[index].engine != Engine::hvx) {
      continue;
    }
    busy.push_back(&unit.busy);
  }
  const Concurrency threads = concurrency_of(busy);
  return threads.time_at.size() > 1 ? double(threads.time_at[1]) : 0;
}

struct Uneven {
  double excess = 0;  // ticks of the busiest thread above an even share, summed over its runs
  std::size_t tiles = 0, runs = 0;
};

// What the threads took of an execution.
class Shares {
 public:
  void take(std::span<const Tile> tiles, std::size_t units) {
    of_unit_.resize(units + 1, none);  // the last of none that exists
    ticks_.clear();
    for (const Tile& tile : tiles) {
      std::uint32_t& thread = place_of(tile.unit);
      if (thread == none) {
        thread = std::uint32_t(ticks_.size());
        ticks_.push_back(0);
      }
      ticks_[thread] += double(tile.ticks);
    }
    for (const Tile& tile : tiles) place_of(tile.unit) = none;
  }

  std::size_t threads() const { return ticks_.size(); }
  double sum() const { return std::accumulate(ticks_.begin(), ticks_.end(), 0.0); }
  double max() const { return *std::max_element(ticks_.begin(), ticks_.end()); }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t& place_of(UnitId unit) {
    return of_unit_[std::min<std::size_t>(index_of(unit), of_unit_.size() - 1)];
  }

  std::vector<std::uint32_t> of_unit_;  // places in ticks_; none between two executions
  std::vector<double> ticks_;
};

struct UnevenOp {
  double factor = 1;  // of its time, if tiles were even
  Uneven runs;

  void add_run(std::span<const Tile> tiles, const Shares& shares, double threads) {
    if (shares.threads() < 2) return;
    const double max = shares.max(), even = shares.sum() / threads;
    if (!(even > 0) || max <= (1 + min_excess) * even) return;
    factor = std::min(factor, even / max);
    runs.excess += max - even;
    runs.tiles += tiles.size();
    runs.runs += 1;
  }
};

std::vector<UnevenOp> uneven_ops(const Analysis& analysis, double threads) {
  TilesOfOp tiles_of(analysis);
  PerThread<Shares> shares_of_thread;
  std::vector<UnevenOp> ops(analysis.profile().ops.size());
  parallel_for(ops.size(), [&](std::size_t op) {
    Shares& shares = shares_of_thread.mine();
    for (auto left = tiles_of.of(op); !left.empty();) {
      std::size_t tiles = 1;
      while (tiles < left.size() && left[tiles].instance == left[0].instance) ++tiles;
      shares.take(left.first(tiles), analysis.profile().units.size());
      ops[op].add_run(left.first(tiles), shares, threads);
      left = left.subspan(tiles);
    }
  });
  return ops;
}

using Kinds = std::map<StringId, Uneven>;

void tell(FindingContext& context, double threads, const Kinds& kinds, Finding& finding) {
  std::vector<std::pair<StringId, Uneven>> worst(kinds.begin(), kinds.end());
  sort_rows(worst.begin(), worst.end(),
            [](const auto& a, const auto& b) { return a.second.excess > b.second.excess; });
  const double alone = one_thread_alone(context);
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
    const std::string name(context.profile().text(kind));
    finding.evidence.push_back(count_evidence("tiles_per_run", "tiles of an execution, mean",
                                              double(uneven.tiles) / double(uneven.runs), "ops",
                                              name));
    finding.evidence.push_back(ticks_evidence("excess",
                                              "busiest thread above an even share, all executions",
                                              uneven.excess, MeasureKind::work, "timeline", name));
  }
  finding.advice =
      "Make the number of tiles a multiple of the threads, and tiles equal: of 6 tiles on 4 "
      "threads "
      "two run in a second wave while two threads stand still. Smaller tiles even out what is "
      "left; "
      "where the op declares its own tiling, split the dimension that the threads divide.";
}

RuleOutcome apply(FindingContext& context) {
  if (!context.has_timeline()) return Missing{context.no_timeline()};
  const double threads = context.hvx_threads();
  if (threads < 2) return DoesNotApply{};
  const Profile& profile = context.profile();
  std::vector<double> factors(profile.ops.size(), 1);
  Kinds kinds;
  const std::vector<UnevenOp> ops = uneven_ops(context.analysis(), threads);
  for (std::size_t op = 0; op < ops.size(); ++op) {
    if (ops[op].runs.runs == 0) continue;
    factors[op] = ops[op].factor;
    Uneven& kind = kinds[profile.ops[op].kind];
    kind.excess += ops[op].runs.excess;
    kind.tiles += ops[op].runs.tiles;
    kind.runs += ops[op].runs.runs;
  }
  if (kinds.empty()) return DoesNotApply{};
  Trial trial = trial_of({}, factors, "their tiles take an even share of every thread");
  trial.needs_path = true;
  trial.judge = [threads, kinds = std::move(kinds), factors = std::move(factors)](
                    FindingContext& of, Finding& finding) {
    if (finding.gain->share < min_gain) return false;
    tell(of, threads, kinds, finding);
    finding.places = places_of_ops(of, factors);
    return true;
  };
  return trial;
}

}  // namespace uneven_threads

const Rule uneven_threads_rule{"uneven-threads", uneven_threads::apply};

}  // namespace npuscope::analysis
