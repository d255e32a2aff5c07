// The analyses, each on a profile small enough to count by hand, and against slow twins.
#include <gmock/gmock.h>

#include <functional>
#include <numeric>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/numbers.hpp"
#include "npuscope/analysis/ops.hpp"
#include "npuscope/analysis/phases.hpp"
#include "npuscope/analysis/units.hpp"
#include "number_meaning.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis::analysis_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::ElementsAre;

std::vector<std::int64_t> own_of(const Profile& profile) {
  const Analysis analysis(profile);
  std::vector<std::int64_t> own;
  for (std::size_t row = 0; row < profile.spans.size(); ++row) {
    own.push_back(analysis.self_times()[row]);
  }
  return own;
}

OpTable ops_of(const Profile& profile, Grouping grouping = Grouping::part) {
  return Analysis(profile).ops({grouping, 10});
}

UnitTable units_of(const Profile& profile) { return Analysis(profile).units(); }

TEST(OwnDuration, IsWhatNestedSlicesLeave) {
  ProfileBuilder made;
  const UnitId unit = made.unit("t", Engine::thread);
  made.span(unit, "outer", 0, 100, SpanKind::slice);
  made.span(unit, "middle", 10, 60, SpanKind::slice);
  made.span(unit, "inner", 20, 30, SpanKind::slice);
  made.span(unit, "second", 60, 70, SpanKind::slice);
  EXPECT_THAT(own_of(made.profile), ElementsAre(40, 40, 10, 10));
}

TEST(OwnDuration, OfSlicesThatOverlapInPartIsWholeAndLeavesTheOuterOneWhatNoneCovers) {
  ProfileBuilder made;
  const UnitId unit = made.unit("t", Engine::thread);
  made.span(unit, "a", 0, 20, SpanKind::slice);
  made.span(unit, "b", 5, 10, SpanKind::slice);
  made.span(unit, "c", 7, 15, SpanKind::slice);
  made.span(unit, "d", 18, 25, SpanKind::slice);
  EXPECT_THAT(own_of(made.profile), ElementsAre(10, 5, 8, 7));
}

TEST(OwnDuration, OfWorkIsNotLessForAWaitInsideIt) {
  ProfileBuilder made;
  const UnitId unit = made.unit("t", Engine::hvx);
  made.span(unit, "a", 0, 20);
  made.span(unit, "a", 5, 10, SpanKind::sync);
  made.span(unit, "b", 6, 8);
  EXPECT_THAT(own_of(made.profile), ElementsAre(18, 5, 2));
}

TEST(OwnDuration, OfTransfersAndAsyncIsTheWholeAndOfFramesAndInstantsNothing) {
  ProfileBuilder made;
  const UnitId unit = made.unit("u", Engine::dma);
  made.span(unit, "x", 0, 10, SpanKind::transfer);
  made.span(unit, "y", 5, 12, SpanKind::transfer);
  made.span(unit, "z", 0, 30, SpanKind::async);
  made.span(unit, "", 0, 40, SpanKind::inference);
  made.span(unit, "i", 3, 3, SpanKind::instant);
  EXPECT_THAT(own_of(made.profile), ElementsAre(10, 7, 30, 0, 0));
}

// The obvious way: each slice looks through all others for the one that it is inside, then each
// moment of each slice through those inside it.
std::vector<std::int64_t> own_by_looking(const Spans& spans,
                                         const std::vector<std::uint32_t>& order) {
  const auto end_of = [&](std::uint32_t row) { return spans.start[row] + spans.duration[row]; };
  std::vector<std::vector<std::uint32_t>> inside(spans.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = i; j-- > 0;) {
      if (end_of(order[j]) < end_of(order[i]) || spans.duration[order[i]] == 0) continue;
      inside[order[j]].push_back(order[i]);
      break;
    }
  }
  std::vector<std::int64_t> own(spans.size(), 0);
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    for (std::int64_t t = spans.start[row]; t < end_of(row); ++t) {
      own[row] += std::none_of(inside[row].begin(), inside[row].end(), [&](std::uint32_t inner) {
        return spans.start[inner] <= t && t < end_of(inner);
      });
    }
  }
  return own;
}

TEST(OwnDuration, IsThatOfTheObviousWayAndNeverSumsToLessThanTheUnion) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    ProfileBuilder made;
    const UnitId unit = made.unit("t", Engine::thread);
    const int count = 1 + int(random() % 8);
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = random() % 30;
      made.span(unit, "s", begin, begin + random() % 12, SpanKind::slice);
    }
    const SpansByUnit by_unit(made.profile);
    std::vector<std::uint32_t> rows;
    for (const SpanOfUnit& span : by_unit.spans_of(unit)) rows.push_back(span.row);
    const auto own = own_of(made.profile);
    ASSERT_EQ(own, own_by_looking(made.profile.spans, rows)) << "in round " << round;
    std::vector<Interval> all;
    for (const std::uint32_t row : rows) all.push_back(interval_of(made.profile.spans, row));
    ASSERT_GE(std::accumulate(own.begin(), own.end(), std::int64_t{0}),
              length_of(union_of(std::move(all))));
  }
}

// So many rows that several threads look at them.
TEST(OwnDuration, OfOneSliceInsideAnotherAmongVeryManyInOrderIsFoundWhereverItIs) {
  constexpr std::size_t rows = 300'000;
  for (const std::size_t inner : {std::size_t{1}, rows / 2, rows / 3 * 2, rows - 1, rows}) {
    ProfileBuilder made;
    made.unit("t", Engine::thread);
    made.unit("u", Engine::thread);
    Spans& spans = made.profile.spans;
    std::vector<std::int64_t> expected;
    std::size_t outer[2] = {};
    std::int64_t now[2] = {};
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t unit = row % 2;
      const bool nests = row == inner && row > 2;
      spans.unit.push_back(UnitId(std::uint32_t(unit)));
      spans.op.push_back(OpId::none);
      spans.kind.push_back(row % 5 == 0 ? SpanKind::sync : SpanKind::slice);
      spans.start.push_back(nests ? now[unit] - 3 : now[unit]);
      spans.duration.push_back(nests ? 2 : 10);
      expected.push_back(spans.duration.back());
      const bool is_same = row % 5 != 0 && outer[unit] % 5 != 0;
      if (nests && is_same) expected[outer[unit]] -= 2;
      if (nests) continue;
      outer[unit] = row;
      now[unit] += 10;
    }
    EXPECT_EQ(own_of(made.profile), expected) << inner;
  }
}

TEST(OwnDuration, OfSlicesThatNestProperlySumsToTheUnion) {
  std::mt19937 random(12);
  ProfileBuilder made;
  const UnitId unit = made.unit("t", Engine::thread);
  const std::function<void(std::int64_t, std::int64_t)> fill = [&](std::int64_t begin,
                                                                   std::int64_t end) {
    while (begin < end) {
      const std::int64_t from = begin + random() % 3;
      const std::int64_t to = std::min<std::int64_t>(end, from + 1 + random() % 20);
      if (from >= to) return;
      made.span(unit, "s", from, to, SpanKind::slice);
      if (random() % 2) fill(from + 1, to);
      begin = to;
    }
  };
  fill(0, 500);
  const auto own = own_of(made.profile);
  std::vector<Interval> all;
  for (std::size_t row = 0; row < own.size(); ++row) {
    all.push_back(interval_of(made.profile.spans, row));
  }
  EXPECT_EQ(std::accumulate(own.begin(), own.end(), std::int64_t{0}),
            length_of(union_of(std::move(all))));
}

TEST(Rate, IsOfTheClockOrOfThePhaseAroundTheWindowAndOfNoOther) {
  ProfileBuilder made;
  made.phase("outer", 0, 0, 1'000, 1);
  made.phase("inner", 0, 100, 300, 0.1);
  made.phase("untimed", 0, 100, 200);
  EXPECT_EQ(rate_during(made.profile, {150, 180})->value, 2e9);
  EXPECT_EQ(rate_during(made.profile, {50, 180})->value, 1e9);
  EXPECT_FALSE(rate_during(made.profile, {150, 1'001}));
  made.profile.clocks[0].rate = Hertz{19.2e6};
  EXPECT_EQ(rate_during(made.profile, {150, 1'001})->value, 19.2e6);
}

TEST(Phases, NestByTimeWithinTheirInferenceAndLeaveAnOverhead) {
  ProfileBuilder made;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::int64_t at = 1'000 * i;
    made.phase("graph", i, at + 30, at + 90, i == 0 ? 6 : 3);
    made.phase("execute", i, at, at + 100, i == 0 ? 20 : 5 + i);
    made.phase("power", i, at + 10, at + 20);
  }
  const auto rows = analyse_phases(made.profile);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(made.profile.text(rows[0].name), "execute");
  EXPECT_EQ(rows[0].depth, 0u);
  EXPECT_EQ(rows[0].microseconds.first, 20);
  EXPECT_EQ(rows[0].microseconds.median_of_rest, 6.5);
  EXPECT_EQ(rows[0].self_ticks.first, 100 - 60 - 10);
  EXPECT_EQ(rows[0].self_microseconds.count, 0u);  // the time of "power" is unknown
  EXPECT_EQ(rows[0].hertz.first, 5e6);
  EXPECT_EQ(made.profile.text(rows[1].name), "power");
  EXPECT_EQ(rows[1].depth, 1u);
  EXPECT_EQ(made.profile.text(rows[2].name), "graph");
  EXPECT_EQ(rows[2].self_microseconds.first, 6);
}

TEST(Ops, WorkIsASumActiveAUnionSpanAnExtentOverInferences) {
  ProfileBuilder made;
  const UnitId first = made.unit("HVX 0", Engine::hvx), second = made.unit("HVX 1", Engine::hvx);
  made.span(first, "a", 0, 10);
  made.span(second, "a", 5, 15);
  made.span(second, "a", 20, 25, SpanKind::sync);
  made.span(first, "b", 10, 12);
  made.span(first, "a", 100, 110);
  for (const std::uint32_t i : {0, 0, 0, 0, 1}) made.profile.spans.instance.push_back(i);
  const OpTable table = ops_of(made.profile);
  ASSERT_EQ(table.columns.size(), 4u);
  EXPECT_EQ(table.columns[table.ranked_by].name, "work");
  const OpRow& row = table.rows[0];
  EXPECT_EQ(made.profile.text(row.label), "a");
  EXPECT_EQ(row.values[*table.place_of("work")], 30);
  EXPECT_EQ(row.values[*table.place_of("active")], 25);
  EXPECT_EQ(row.values[*table.place_of("span")], 15 + 10);
  EXPECT_EQ(row.values[*table.place_of("waiting")], 5);
  EXPECT_EQ(row.instances, 3u);
  EXPECT_EQ(row.units, 2u);
  EXPECT_THAT(row.engines, ElementsAre(Engine::hvx));
  EXPECT_EQ(table.columns[*table.place_of("work")].total, 32);
}

TEST(Ops, RankByTheDominantPathWhereThereIsOne) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "long", 0, 100);
  made.span(unit, "critical", 100, 110);
  made.profile.spans.measures.push_back(
      {made.text("dominant path"),
       MeasureKind::dominant_path,
       Origin::derived,
       test_support::meaning_of(MeasureKind::dominant_path, "dominant path"),
       ClockId{},
       {MeasureColumn::missing, 10}});
  made.profile.spans.measures.push_back({made.text("wall"),
                                         MeasureKind::wall,
                                         Origin::measured,
                                         test_support::meaning_of(MeasureKind::wall, "wall"),
                                         ClockId{},
                                         {5, 5}});
  const OpTable table = ops_of(made.profile);
  EXPECT_EQ(made.profile.text(table.rows[0].label), "critical");
  EXPECT_EQ(table.rows[1].values[table.ranked_by], std::nullopt);
  EXPECT_FALSE(table.place_of("wall"));  // does not add up over ops
}

TEST(Ops, WithoutATimelineTheirNumbersCountTheMedianOfTheInferencesAfterTheFirst) {
  ProfileBuilder made;
  const OpId a = made.op("a"), b = made.op("b");
  const auto add = [&](OpId op, std::uint32_t instance, double value) {
    Measure measure;
    measure.subject = Measure::Subject::op;
    measure.subject_id = index_of(op);
    measure.instance = instance;
    measure.what = made.text("cycles");
    measure.kind = MeasureKind::work;
    measure.value = value;
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  };
  add(a, 0, 900);
  add(a, 1, 10);
  add(a, 2, 30);
  add(b, every_instance, 50);
  const OpTable table = ops_of(made.profile);
  EXPECT_EQ(made.profile.text(table.rows[0].label), "b");
  EXPECT_EQ(table.rows[1].values[0], 20);
  EXPECT_TRUE(table.columns[0].per_inference);
}

TEST(Ops, SharesOfATableThatListsSomeOpsAreOfTheWholeRun) {
  ProfileBuilder made;
  const auto add = [&](Measure::Subject subject, std::uint32_t id, const char* what,
                       MeasureKind kind, double value) {
    made.profile.measures.push_back({subject, id, made.text(what), kind, Origin::measured,
                                     test_support::meaning_of(kind, what), ClockId{}, value});
  };
  const auto op = Measure::Subject::op, run = Measure::Subject::profile;
  add(op, index_of(made.op("a")), "dominant path", MeasureKind::dominant_path, 100);
  add(op, index_of(made.op("a")), "ddr read bytes", MeasureKind::count, 5);
  add(run, 0, "cycles with any lane busy", MeasureKind::active, 1'000);
  add(run, 0, "ddr read bytes", MeasureKind::count, 50);
  const OpTable table = ops_of(made.profile);
  EXPECT_EQ(table.column("dominant path")->total, 100);
  EXPECT_EQ(table.column("dominant path")->whole, 1'000);
  EXPECT_EQ(table.column("ddr read bytes")->whole, 50);
}

TEST(Ops, AnUnknownKindIsNoFurtherKind) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "a", 0, 10, SpanKind::op, "");
  made.span(unit, "b", 10, 20, SpanKind::op, "conv");
  for (Op& op : made.profile.ops) op.node = made.text("MatMul_0");
  const OpTable table = ops_of(made.profile);
  EXPECT_EQ(table.rows[0].kinds, 1u);
  EXPECT_EQ(made.profile.text(table.rows[0].kind), "conv");
}

TEST(Ops, AKindThatNeverRanIsNotCounted) {
  ProfileBuilder made;
  made.op("constant", "Const");
  made.span(made.unit("HVX", Engine::hvx), "a", 0, 10, SpanKind::op, "conv");
  for (Op& op : made.profile.ops) op.node = made.text("MatMul_0");
  const OpTable table = ops_of(made.profile);
  EXPECT_EQ(table.rows[0].kinds, 1u);
  EXPECT_EQ(made.profile.text(table.rows[0].kind), "conv");
}

TEST(Engine, OfADmaOpOnALaneIsItsIssueAndOfATransferTheDmaItself) {
  ProfileBuilder made;
  const UnitId lane = made.unit("HMX", Engine::hmx), dma = made.unit("DMA", Engine::dma);
  made.span(lane, "load", 0, 10);
  made.span(dma, "load", 0, 10);
  made.span(lane, "load", 0, 10, SpanKind::transfer);
  made.profile.ops[0].engine = Engine::dma;
  EXPECT_EQ(engine_of(made.profile, 0), Engine::dma_issue);
  EXPECT_EQ(engine_of(made.profile, 1), Engine::dma);
  EXPECT_EQ(engine_of(made.profile, 2), Engine::dma);
}

// "ddr read bytes" is a level here, and a number without a telling name traffic: names say nothing.
TEST(Ops, ColumnsAreAddedUpAndBytesAreTrafficByWhatReadersSayNotByName) {
  ProfileBuilder made;
  made.span(made.unit("HVX", Engine::hvx), "a", 0, 10);
  Profile& profile = made.profile;
  const NamedNumber level = NamedNumber{"ddr read bytes", NumberQuantity::bytes}.not_additive();
  const NamedNumber moved{"mean utilization percent", NumberQuantity::bytes, NumberRole::ddr_read};
  for (const NamedNumber& number : {level, moved}) {
    MeasureColumn column = profile.column_of(number, Origin::measured);
    column.values.push_back(640);
    profile.spans.measures.push_back(std::move(column));
  }
  const OpTable table = ops_of(profile);
  EXPECT_FALSE(table.place_of("ddr read bytes"));
  const auto place = table.place_of("mean utilization percent");
  ASSERT_TRUE(place);
  EXPECT_EQ(table.columns[*place].total, 640);
  EXPECT_EQ(units_of(profile).traffic.of(Route::ddr_read), 640);
}

TEST(Units, BusyIsAUnionAndTheClassIsWhatTheOpUses) {
  ProfileBuilder made;
  const UnitId core = made.unit("Core 0", Engine::core);
  const UnitId main = made.unit("HMX", Engine::hmx, core);
  const UnitId hvx0 = made.unit("HVX", Engine::hvx, core);
  made.span(main, "load", 0, 10);
  made.span(main, "conv", 10, 30);
  made.span(main, "conv", 25, 35, SpanKind::dma_wait);
  made.span(hvx0, "add", 0, 5, SpanKind::slice);
  made.span(hvx0, "inner", 1, 2, SpanKind::slice);
  made.profile.ops[0].engine = Engine::dma;
  const UnitTable table = units_of(made.profile);
  ASSERT_EQ(table.units.size(), 2u);
  EXPECT_EQ(table.units[0].busy, 30);
  EXPECT_EQ(table.units[0].waiting, 5);
  EXPECT_EQ(table.units[1].busy, 5);
  EXPECT_EQ(table.units[1].work, 5);
  ASSERT_EQ(table.engines.size(), 3u);
  EXPECT_EQ(table.engines[1].engine, Engine::hmx);
  EXPECT_EQ(table.engines[1].domain, 20);
  EXPECT_EQ(table.engines[2].engine, Engine::dma_issue);
  EXPECT_EQ(table.engines[2].domain, 10);
  EXPECT_EQ(path_of(made.profile, hvx0), "Core 0 > HVX 0");
}

TEST(Units, BytesAreCountedAtTheFinestLevelOnlyAndPartsOfThemNotAgain) {
  ProfileBuilder made;
  const UnitId unit = made.unit("Core 0", Engine::core);
  const auto add = [&](Measure::Subject subject, const char* what, double value) {
    Measure measure;
    measure.subject = subject;
    measure.subject_id = index_of(unit);
    measure.what = made.text(what);
    measure.value = value;
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  };
  add(Measure::Subject::profile, "ddr read bytes", 1'000);
  add(Measure::Subject::unit, "ddr read bytes", 600);
  add(Measure::Subject::unit, "ddr read bytes, constants", 500);
  add(Measure::Subject::unit, "VTCM_write", 7);
  add(Measure::Subject::unit, "ddr read stalls", 9);
  const UnitTable table = units_of(made.profile);
  EXPECT_EQ(table.traffic.of(Route::ddr_read), 600);
  EXPECT_EQ(table.traffic.of(Route::vtcm_write), 7);
  EXPECT_FALSE(table.traffic.of(Route::ddr_write));
  EXPECT_STREQ(table.traffic_source, "units");
}

TEST(Units, BytesOfAUnitAreNotCountedAgainWithItsPartsAndTheHostsNotBesideTheDevices) {
  ProfileBuilder made;
  const UnitId device = made.unit("device", Engine::device);
  const UnitId core = made.unit("core 0", Engine::core, device);
  const UnitId host = made.unit("host", Engine::host);
  const UnitId port = made.unit("port 2", Engine::other, host);
  const auto add = [&](UnitId unit, const char* what, double value) {
    Measure measure;
    measure.subject = Measure::Subject::unit;
    measure.subject_id = index_of(unit);
    measure.what = made.text(what);
    measure.value = value;
    measure.meaning = test_support::meaning_of(measure.kind, made.profile.text(measure.what));
    made.profile.measures.push_back(measure);
  };
  add(core, "ddr read bytes", 900);
  add(host, "ddr read bytes", 100);
  add(port, "ddr read bytes", 100);
  add(device, "ddr read bytes", 1'000);
  add(core, "vtcm read bytes", 5);
  add(port, "ddr write bytes", 7);
  add(host, "ddr write bytes", 8);
  const UnitTable table = units_of(made.profile);
  EXPECT_EQ(table.traffic.of(Route::ddr_read), 1'000);
  EXPECT_EQ(table.traffic.of(Route::ddr_write), 8);
  EXPECT_EQ(table.traffic.of(Route::vtcm_read), 5);
}

TEST(Counters, MeanIsOverTheTimeForWhichASampleHolds) {
  ProfileBuilder made;
  Counters& counters = made.profile.counters;
  counters.series.push_back({UnitId::none, made.text("VTCM"), {}, {}});
  counters.of = {0, 0, 0};
  counters.time = {0, 10, 40};
  counters.value = {6, 2, 9};
  const auto rows = analyse_counters(made.profile);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].mean, (6.0 * 10 + 2 * 30) / 40);
  EXPECT_EQ(rows[0].max, 9);
  EXPECT_EQ(rows[0].last, 9);
}

TEST(Counters, TheLastSampleHoldsUntilEverythingHasEnded) {
  ProfileBuilder made;
  made.span(made.unit("HVX", Engine::hvx), "a", 0, 100);
  Counters& counters = made.profile.counters;
  counters.series.push_back({UnitId::none, made.text("VTCM"), {}, {}});
  counters.of = {0, 0};
  counters.time = {0, 40};
  counters.value = {5, 10};
  EXPECT_EQ(analyse_counters(made.profile)[0].mean, (5.0 * 40 + 10 * 60) / 100);
}

}  // namespace
}  // namespace npuscope::analysis::analysis_test
