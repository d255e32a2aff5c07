// What runs beside what, waits told apart, and imbalance; against slow twins.
#include "npuscope/analysis/overlap.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/imbalance.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis::overlap_test {
namespace {

using npuscope::test_support::ProfileBuilder;

struct Analysed {
  explicit Analysed(const Profile& profile)
      : analysis(profile), overlap(analysis.overlap()), units(analysis.units()) {}
  Analysis analysis;
  const Overlap& overlap;
  const UnitTable& units;
};

TEST(Overlap, CountsClassesByWhatTheOpsUse) {
  ProfileBuilder made;
  const UnitId main = made.unit("HMX", Engine::hmx), thread = made.unit("HVX", Engine::hvx);
  made.span(main, "conv", 0, 10);
  made.span(main, "load", 10, 20);
  made.profile.ops[1].engine = Engine::dma;  // issues it
  made.span(thread, "add", 5, 15);
  const Overlap overlap = Analysed(made.profile).overlap;
  EXPECT_EQ(overlap.active(Engine::hmx), 10);
  EXPECT_EQ(overlap.of(Engine::hmx, Engine::hvx), 5);
  EXPECT_EQ(overlap.of(Engine::hvx, Engine::dma_issue), 5);
  EXPECT_EQ(overlap.of(Engine::hmx, Engine::dma_issue), 0);
  EXPECT_EQ(overlap.several, 10);
  EXPECT_EQ(Analysis(made.profile).concurrency().time_at, (std::vector<std::int64_t>{0, 10, 10}));
}

TEST(Overlap, OfTheWidestTimesDoesNotOverflow) {
  ProfileBuilder made;
  const UnitId a = made.unit("HMX", Engine::hmx), b = made.unit("HVX", Engine::hvx);
  constexpr auto min = std::numeric_limits<std::int64_t>::min();
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  made.span(a, "x", 0, 1);
  made.profile.spans.start[0] = min;
  made.profile.spans.duration[0] = max;
  made.span(b, "y", 0, max);
  made.span(b, "z", 0, 1);
  made.profile.spans.duration[2] = -7;
  const Overlap overlap = Analysed(made.profile).overlap;
  EXPECT_EQ(overlap.of(Engine::hmx, Engine::hvx), 0);
  EXPECT_EQ(overlap.active(Engine::hvx), max);
}

// Each moment looked at by itself.
TEST(Overlap, IsThatOfEachMomentAndOfTheCoarseView) {
  std::mt19937 random(9);
  constexpr Engine engines[] = {Engine::hmx, Engine::hvx, Engine::hvx, Engine::dma, Engine::host};
  for (int round = 0; round < 3'000; ++round) {
    ProfileBuilder made;
    std::vector<UnitId> units;
    for (const Engine engine : engines) units.push_back(made.unit("u", engine));
    for (std::size_t i = 0; i < random() % 20; ++i) {
      const std::int64_t begin = random() % 50;
      made.span(units[random() % units.size()], "op" + std::to_string(random() % 3), begin,
                begin + random() % 12, random() % 5 == 0 ? SpanKind::sync : SpanKind::op);
    }
    for (Op& op : made.profile.ops) op.engine = random() % 3 == 0 ? Engine::dma : Engine::none;
    const Profile& profile = made.profile;
    std::int64_t both[Overlap::classes][Overlap::classes] = {};
    std::vector<std::int64_t> time_at;
    std::int64_t idle = 0;  // since something worked last
    for (std::int64_t t = 0; t < 70; ++t) {
      bool works[Overlap::classes] = {};
      std::set<std::uint32_t> units_at_work;
      for (std::size_t row = 0; row < profile.spans.size(); ++row) {
        const Interval interval = interval_of(profile.spans, row);
        if (role_of(profile.spans.kind[row]) != Role::work) continue;
        if (interval.begin <= t && t < interval.end) {
          works[std::size_t(engine_of(profile, row))] = true;
          units_at_work.insert(index_of(profile.spans.unit[row]));
        }
      }
      if (units_at_work.empty()) {
        idle += time_at.empty() ? 0 : 1;
      } else {
        time_at.resize(std::max(time_at.size(), units_at_work.size() + 1), 0);
        time_at[units_at_work.size()] += 1;
        time_at[0] += std::exchange(idle, 0);
      }
      for (std::size_t a = 0; a < Overlap::classes; ++a) {
        for (std::size_t b = 0; b < Overlap::classes; ++b) both[a][b] += works[a] && works[b];
      }
    }
    const Analysed found(profile);
    for (std::size_t a = 0; a < Overlap::classes; ++a) {
      for (std::size_t b = 0; b < Overlap::classes; ++b) {
        ASSERT_EQ(found.overlap.both[a][b], both[a][b]) << "round " << round;
      }
    }
    ASSERT_EQ(Analysis(profile).concurrency().time_at, time_at) << "round " << round;
    for (const EngineRow& row : found.units.engines) {
      ASSERT_EQ(found.overlap.active(row.engine), row.active);
    }
  }
}

// Many windows of time, cut anywhere, must say the same as one.
TEST(Overlap, OfManyIntervalsAddsUpOverItsWindows) {
  std::mt19937 random(10);
  ProfileBuilder made;
  const UnitId units[] = {made.unit("HMX", Engine::hmx), made.unit("HVX", Engine::hvx)};
  const OpId op = made.op("x");
  Spans& spans = made.profile.spans;
  std::int64_t now[2] = {};
  for (std::size_t i = 0; i < 100'000; ++i) {
    const std::size_t unit = random() % 2;
    const std::int64_t start = now[unit] + 1 + std::int64_t(random() % 9);
    now[unit] = start + 1 + std::int64_t(random() % 9);
    spans.unit.push_back(units[unit]);
    spans.op.push_back(op);
    spans.kind.push_back(SpanKind::op);
    spans.start.push_back(start);
    spans.duration.push_back(now[unit] - start);
  }
  const Analysed found(made.profile);
  IntervalSet sets[2];
  for (const std::size_t unit : {0, 1}) {
    for (const SpanOfUnit& span : found.analysis.spans_by_unit().spans_of(units[unit])) {
      const std::uint32_t row = span.row;
      sets[unit].push_back(interval_of(spans, row));
    }
  }
  EXPECT_EQ(found.overlap.of(Engine::hmx, Engine::hvx),
            length_of(intersection_of(sets[0], sets[1])));
  EXPECT_EQ(found.overlap.active(Engine::hmx), length_of(sets[0]));
}

TEST(Units, TellWaitsApartAndAMomentOfSeveralCountsOnce) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "a", 0, 10);
  made.span(unit, "a", 5, 20, SpanKind::dma_wait);
  made.span(unit, "a", 15, 30, SpanKind::sync);
  made.span(unit, "a", 25, 40, SpanKind::barrier);
  made.span(unit, "b", 50, 60);
  const UnitRow row = Analysed(made.profile).units.units.at(0);
  EXPECT_EQ(row.busy, 20);
  EXPECT_EQ(row.waiting_for_dma, 10);
  EXPECT_EQ(row.at_syncs, 10);
  EXPECT_EQ(row.at_barriers, 10);
  EXPECT_EQ(row.waiting, 30);
}

struct Cores : ProfileBuilder {
  std::vector<UnitId> units;
  explicit Cores(std::uint32_t count) {
    for (std::uint32_t core = 0; core < count; ++core) {
      units.push_back(unit("HMX " + std::to_string(core), Engine::hmx));
      profile.units.back().core = core;
    }
  }
};

TEST(Imbalance, TellsWorkWaitingAndStaticLoadApart) {
  Cores made(2);
  made.span(made.units[0], "a", 0, 10);
  made.span(made.units[0], "a", 10, 40, SpanKind::sync);
  made.span(made.units[1], "b", 0, 30);
  made.span(made.units[1], "c", 30, 40);
  made.span(made.units[0], "end", 40, 90, SpanKind::op, "aicendcyclestats");
  for (Op& op : made.profile.ops) op.output = Bytes{100};
  const Analysed found(made.profile);
  const auto rows = Analysis(made.profile).imbalance();
  const auto row = [&](const char* what) {
    return *std::find_if(rows.begin(), rows.end(), [&](const ImbalanceRow& each) {
      return each.parts == "cores" && each.what == what;
    });
  };
  EXPECT_EQ(row("work").mean, 25);
  EXPECT_EQ(row("work").most_loaded, "core 1");
  EXPECT_DOUBLE_EQ(*row("work").excess(), 0.6);
  EXPECT_EQ(row("waiting").most_loaded, "core 0");
  EXPECT_EQ(row("ops").max, 2);
  EXPECT_EQ(row("output bytes").mean, 150);
}

// The load engine of a core was called overloaded beside its store engine.
TEST(Imbalance, ComparesEnginesOfAClassOnlyWithTheirLike) {
  Cores made(0);
  const UnitId load = made.unit("dma load 0", Engine::dma);
  const UnitId store = made.unit("dma store 0", Engine::dma);
  const UnitId other_load = made.unit("dma load 1", Engine::dma);
  made.span(load, "a", 0, 30);
  made.span(other_load, "a", 0, 10);
  made.span(store, "a", 0, 1'000);
  const Analysed found(made.profile);
  const auto rows = Analysis(made.profile).imbalance();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].parts, "dma load");
  EXPECT_EQ(rows[0].members, 2u);
  EXPECT_DOUBLE_EQ(*rows[0].excess(), 0.5);
}

// Of an IPU's cores only what their DMA did was counted.
TEST(Imbalance, ComputingEnginesAreWorkOfTheirCore) {
  Cores made(0);
  for (std::uint32_t core = 0; core < 2; ++core) {
    const UnitId conv = made.unit("conv " + std::to_string(core), Engine::compute);
    made.profile.units.back().core = core;
    made.span(conv, "a", 0, core == 0 ? 10 : 30);
  }
  const Analysed found(made.profile);
  const auto rows = Analysis(made.profile).imbalance();
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].parts, "cores");
  EXPECT_EQ(rows[0].mean, 20);
}

TEST(Imbalance, OfEqualLoadsNoneIsTheMostLoaded) {
  Cores made(2);
  for (const UnitId unit : made.units) made.span(unit, "a", 0, 10);
  const Analysed found(made.profile);
  const Analysis analysed(made.profile);
  for (const auto& row : analysed.imbalance()) {
    EXPECT_EQ(row.most_loaded + row.least_loaded, "") << row.parts << " " << row.what;
  }
}

TEST(OneCoreOps, AreThoseWhoseKernelRunsOnAllCoresAndTheLongOnes) {
  Cores made(2);
  made.span(made.units[0], "both", 0, 10, SpanKind::op, "conv");
  made.span(made.units[1], "both", 0, 10, SpanKind::op, "conv");
  made.span(made.units[1], "short", 10, 11, SpanKind::op, "conv");
  made.span(made.units[0], "long", 11, 1'000, SpanKind::op, "topk");
  made.span(made.units[0], "tiny", 1'000, 1'001, SpanKind::op, "topk");
  const Analysed found(made.profile);
  const auto ops = Analysis(made.profile).one_core_ops();
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].name, "long");
  EXPECT_EQ(ops[0].core, "core 0");
  EXPECT_FALSE(ops[0].kind_is_on_all);
  EXPECT_EQ(ops[1].name, "short");
  EXPECT_TRUE(ops[1].kind_is_on_all);
}

// The table of all ops, with what each did on which cores.
TEST(OneCoreOps, AreTheRowsOfTheOpTableThatOneCoreWorkedOn) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Cores made(1 + random() % 4);
    made.unit("DMA", Engine::dma);
    made.unit("host", Engine::host);
    const std::size_t units = made.profile.units.size();
    for (std::size_t i = 0; i < random() % 40; ++i) {
      const std::int64_t begin = random() % 90;
      const SpanKind kinds[] = {SpanKind::op, SpanKind::transfer, SpanKind::sync, SpanKind::async};
      made.span(UnitId(random() % (units + 1)), "op" + std::to_string(random() % 9), begin,
                begin + random() % 20, kinds[random() % 4], random() % 2 ? "conv" : "topk");
    }
    const Analysed found(made.profile);
    const OpTable table =
        Analysis(made.profile).ops({.top = ~std::size_t{0}, .details = true, .sort = "active"});
    std::vector<std::tuple<std::string, double, double>> expected, actual;
    for (const OpRow& row : table.rows) {
      if (row.details.spread.cores != 1 || table.cores < 2) continue;
      expected.emplace_back(row.name, row.values[*table.place_of("active")].value_or(-1),
                            row.values[*table.place_of("work")].value_or(-1));
    }
    for (const OneCoreOp& op : Analysis(made.profile).one_core_ops(0)) {
      actual.emplace_back(op.name, op.active, op.work);
    }
    ASSERT_EQ(actual, expected) << "in round " << round;
  }
}

// The times of ops that are too short for the table are not found out.
TEST(OneCoreOps, OfALeastShareAreThoseOfAllThatReachIt) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    Cores made(2 + random() % 3);
    for (std::size_t i = 0; i < random() % 40; ++i) {
      const std::int64_t begin = random() % 90;
      const std::string op = "op" + std::to_string(random() % 9);
      made.span(UnitId(random() % made.profile.units.size()), op, begin, begin + random() % 20,
                SpanKind::op, random() % 2 ? "conv" : "topk");
    }
    const Analysed found(made.profile);
    const double min = double(random() % 40) / 100;
    const double wall = double(length_of(timeline_of(made.profile)));
    std::vector<std::tuple<std::string, double, double>> expected, actual;
    for (const OneCoreOp& op : Analysis(made.profile).one_core_ops(0)) {
      if (!op.kind_is_on_all && op.active < min * wall) continue;
      expected.emplace_back(op.name, op.active, op.work);
    }
    for (const OneCoreOp& op : Analysis(made.profile).one_core_ops(min)) {
      actual.emplace_back(op.name, op.active, op.work);
    }
    ASSERT_EQ(actual, expected) << "in round " << round;
  }
}

}  // namespace
}  // namespace npuscope::analysis::overlap_test
