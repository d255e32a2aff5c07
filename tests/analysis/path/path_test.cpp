// The critical path on profiles made by hand, each a rule of the model.
#include "npuscope/analysis/path.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/path/path_groups.hpp"
#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::path_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Made : ProfileBuilder {
  UnitId hvx = unit("HVX", Engine::hvx), hmx = unit("HMX", Engine::hmx);
  UnitId issuer = unit("DMA issue", Engine::dma_issue);
  UnitId engine = unit("DMA", Engine::dma, issuer);

  void edge(std::string_view from, std::string_view to, EdgeKind kind = EdgeKind::data) {
    profile.edges.push_back({op(from), op(to), kind});
  }
  void flow(SpanId from, SpanId to) { profile.flows.push_back({from, to, EdgeKind::flow, {}, {}}); }
};

PathAnalysis analysis_of(const Profile& profile) {
  auto made = PathAnalysis::create(profile, std::nullopt);
  EXPECT_TRUE(made) << made.error().message;
  return *made;
}

// "data A 10+20" for each step: why, what, when from and how long.
std::vector<std::string> lines_of(const Profile& profile, const std::vector<PathStep>& steps) {
  std::vector<std::string> lines;
  for (const PathStep& step : steps) {
    const std::size_t op = index_of(step.op);
    const std::string name(op < profile.ops.size() ? profile.text(profile.ops[op].name) : "-");
    lines.push_back(std::string(name_of(step.reason)) + " " + name + " " +
                    std::to_string(step.start) + "+" + std::to_string(step.duration));
  }
  return lines;
}

std::vector<std::string> path_lines(const Profile& profile) {
  return lines_of(profile, analysis_of(profile).observed().steps);
}

Scaling scale_op(const Profile& profile, const Made& made, std::string_view name, double factor) {
  Scaling scaling;
  scaling.of_op.assign(profile.ops.size() + 1, 1);
  for (std::size_t i = 0; i < profile.ops.size(); ++i) {
    if (made.profile.text(profile.ops[i].name) == name) scaling.of_op[i] = factor;
  }
  return scaling;
}

TEST(Path, GoesBackThroughWhatReleasedEachStepLast) {
  Made made;
  made.span(made.hvx, "A", 100, 110);
  made.span(made.hvx, "B", 110, 150);
  made.span(made.hmx, "C", 115, 130);
  made.span(made.hmx, "D", 153, 170);
  made.edge("A", "C");
  made.edge("B", "D", EdgeKind::reuse);
  EXPECT_THAT(path_lines(made.profile),
              ElementsAre("start A 100+10", "unit B 110+40", "memory reuse D 153+17"));
  const CriticalPath path = analysis_of(made.profile).observed();
  EXPECT_EQ(path.wall, 70);
  EXPECT_EQ(path.work, 67);
  EXPECT_EQ(path.gaps, 3);
  EXPECT_EQ(path.lead + path.tail, 0);
}

TEST(Path, SlackIsHowMuchLaterAnExecutionCouldEnd) {
  Made made;
  const SpanId a = made.span(made.hvx, "A", 0, 10);
  const SpanId b = made.span(made.hvx, "B", 10, 50);
  const SpanId c = made.span(made.hmx, "C", 12, 20);
  const SpanId d = made.span(made.hmx, "D", 50, 60);
  made.edge("A", "C");
  made.edge("B", "D");
  const ExecutionTimes times = analysis_of(made.profile).executions();
  EXPECT_EQ(times.slack[index_of(a)], 0);
  EXPECT_EQ(times.slack[index_of(b)], 0);
  EXPECT_EQ(times.slack[index_of(c)], 30);
  EXPECT_EQ(times.slack[index_of(d)], 0);
  EXPECT_EQ(times.work[index_of(c)], 8);
}

TEST(Path, ExecutionsByOpCountASpanInPiecesOnce) {
  Made made;
  made.span(made.hvx, "A", 0, 100);  // in three pieces, around B and C
  made.span(made.hvx, "B", 10, 20);
  made.span(made.hvx, "C", 40, 70);
  made.span(made.hmx, "A", 20, 60);
  made.span(made.hmx, "", 90, 95);
  made.edge("B", "D");
  made.span(made.hmx, "D", 96, 130);
  const PathAnalysis analysis = analysis_of(made.profile);
  const ExecutionTimes times = analysis.executions();
  const ExecutionsByOp by_op = executions_by_op(analysis);
  std::vector<ExecutionsByOp::OfOp> expected(made.profile.ops.size() + 1);
  for (std::size_t row = 0; row < made.profile.spans.size(); ++row) {
    ASSERT_GE(times.work[row], 0);
    EXPECT_TRUE(by_op.ran[row]);
    const std::size_t op = index_of(made.profile.spans.op[row]);
    ExecutionsByOp::OfOp& of = expected[std::min(op, expected.size() - 1)];
    of.executions += 1;
    of.work += times.work[row];
    of.slack = std::min(of.slack, times.slack[row]);
  }
  ASSERT_EQ(by_op.ops.size(), expected.size());
  for (std::size_t op = 0; op < expected.size(); ++op) {
    EXPECT_EQ(by_op.ops[op].executions, expected[op].executions) << op;
    EXPECT_EQ(by_op.ops[op].work, expected[op].work) << op;
    EXPECT_EQ(by_op.ops[op].slack, expected[op].slack) << op;
  }
  EXPECT_EQ(by_op.ops[0].executions, 2u);
  EXPECT_EQ(by_op.ops[0].work, 60 + 40);
}

TEST(Path, GainOfAFasterOpEndsWhereAnotherPathHolds) {
  Made made;
  made.span(made.hvx, "A", 0, 100);
  made.span(made.hmx, "B", 0, 60);
  made.span(made.hvx, "C", 100, 110);
  made.edge("B", "C");
  const PathAnalysis analysis = analysis_of(made.profile);
  const WhatIf twice = analysis.what_if(scale_op(made.profile, made, "A", 0.5));
  EXPECT_EQ(twice.before, 110);
  // C waits for B until 60; that such a constraint let go 40 before C began is no latency.
  EXPECT_EQ(twice.after, 70);
  EXPECT_EQ(twice.off_the_path, 50);
  EXPECT_EQ(twice.limit, 70);
  EXPECT_NEAR(twice.limit_speedup.value(), 100.0 / 60, 1e-4);
  EXPECT_THAT(lines_of(made.profile, twice.steps), ElementsAre("start B 0+60", "data C 60+10"));
  const WhatIf slower = analysis.what_if(scale_op(made.profile, made, "B", 3));
  EXPECT_EQ(slower.after, 190);
  EXPECT_EQ(slower.limit, 190);
  EXPECT_FALSE(slower.limit_speedup);
}

TEST(Path, AnOpOffThePathGainsNothing) {
  Made made;
  made.span(made.hvx, "A", 0, 100);
  made.span(made.hmx, "B", 0, 60);
  const WhatIf free = analysis_of(made.profile).what_if(scale_op(made.profile, made, "B", 0));
  EXPECT_EQ(free.after, 100);
  EXPECT_EQ(free.limit_speedup, 1);
}

TEST(Path, TheLatencyOfAConstraintIsTheLeastOfItsClassTheRestADelay) {
  Made made;
  made.span(made.hvx, "A", 0, 10);
  made.span(made.hmx, "B", 15, 25);
  made.span(made.hvx, "C", 30, 40);
  made.span(made.hmx, "D", 52, 60);
  made.edge("A", "B");
  made.edge("B", "C");
  made.edge("C", "D");
  const CriticalPath path = analysis_of(made.profile).observed();
  EXPECT_THAT(lines_of(made.profile, path.steps),
              ElementsAre("start A 0+10", "data B 15+10", "data C 30+10", "data D 52+8"));
  EXPECT_EQ(path.steps[1].delay, 0);
  EXPECT_EQ(path.steps[3].gap, 12);
  EXPECT_EQ(path.steps[3].delay, 7);
}

TEST(Path, WaitsSayWhatGapsAreMadeOf) {
  Made made;
  made.span(made.hvx, "A", 0, 10);
  made.span(made.hvx, "A", 10, 12, SpanKind::barrier);
  made.span(made.hvx, "B", 13, 20, SpanKind::dma_wait);
  made.span(made.hvx, "B", 15, 22, SpanKind::sync);
  made.span(made.hvx, "B", 25, 30);
  made.span(made.hvx, "B", 30, 36, SpanKind::sync);
  const CriticalPath path = analysis_of(made.profile).observed();
  ASSERT_EQ(path.steps.size(), 2u);
  EXPECT_THAT(path.steps[1].gap_parts, ElementsAre(7, 2, 2, 4));
  EXPECT_EQ(path.tail, 6);
  EXPECT_THAT(path.tail_parts, ElementsAre(0, 6, 0, 0));
  EXPECT_THAT(path.gap_parts, ElementsAre(7, 8, 2, 4));
  EXPECT_EQ(path.wall, path.lead + path.work + path.gaps + path.tail);
}

TEST(Path, ThreadsThatBeginWithTheOneThatWaitedWaitedForTheSame) {
  const auto lines = [](std::int64_t begin) {
    Made made;
    const UnitId second = made.unit("HVX 1", Engine::hvx);
    made.span(made.issuer, "Fill", 0, 5);
    made.span(made.hvx, "Fill", 2, 100, SpanKind::dma_wait);
    made.span(made.hvx, "Mul", 100, 120);
    made.span(made.hvx, "Fill", 120, 125, SpanKind::dma_wait);  // the shortest
    made.span(second, "Add", 0, 20);
    made.span(second, "Mul", begin, 300);
    return path_lines(made.profile);
  };
  EXPECT_THAT(lines(101), ElementsAre("start Fill 0+5", "DMA wait Mul 101+199"));
  EXPECT_THAT(lines(201), ElementsAre("start Add 0+20", "unit Mul 201+99"));
}

// A step of the path may say "DMA wait" for it, so it is one of the constraints that are counted.
// A thread looks whether a transfer is complete when the inputs of its next op are there.
Made poll_before_an_op() {
  Made made;
  made.span(made.issuer, "Fill", 0, 5);
  made.span(made.hmx, "A", 20, 40);
  made.span(made.hvx, "B", 41, 1041);
  made.span(made.hmx, "Fill", 1046, 1050, SpanKind::dma_wait);
  made.span(made.hmx, "C", 1051, 1071);
  made.edge("Fill", "A");
  made.edge("A", "B");
  return made;
}

TEST(Path, ThePollBeforeAnOpDoesNotHideWhatTheOpWaitedFor) {
  Made made = poll_before_an_op();
  made.edge("B", "C");
  EXPECT_THAT(path_lines(made.profile),
              ElementsAre("start Fill 0+5", "data A 20+20", "data B 41+1000", "data C 1051+20"));
  const PathAnalysis paths = analysis_of(made.profile);
  const WhatIf what_if = paths.what_if(scale_op(made.profile, made, "B", 0.5));
  EXPECT_EQ(what_if.before - what_if.after, 500);
}

// Held at the time that was recorded, it let the op that it had waited for gain nothing.
TEST(Path, APollRightAfterAnotherThreadsOpWaitedForTheOrderOfTheProgram) {
  Made made = poll_before_an_op();
  made.span(made.hvx, "D", 1041, 1049);
  made.edge("D", "C");
  EXPECT_EQ(path_lines(made.profile).back(), "order C 1051+20");
  const WhatIf what_if = analysis_of(made.profile).what_if(scale_op(made.profile, made, "B", 0.5));
  EXPECT_EQ(what_if.before - what_if.after, 500);
}

TEST(Path, APollLongAfterAllThreadsIsHeldBackByNothing) {
  Made made = poll_before_an_op();
  made.span(made.hmx, "Fill", 3'000, 3'005, SpanKind::dma_wait);
  made.span(made.hmx, "E", 3'010, 3'020);
  EXPECT_EQ(path_lines(made.profile).back(), "unit E 3010+10");
}

TEST(Path, ThePollsBeforeTheTilesOfAnOpDoNotHideTheTilesThatTheyWaitedFor) {
  Made made;
  for (std::int64_t tile = 0; tile < 3; ++tile) {
    const std::int64_t begin = 1'000 * tile;
    made.span(made.hvx, "B", begin, begin + 990);
    made.span(made.hmx, "Fill", begin + 991, begin + 993, SpanKind::dma_wait);
    made.span(made.hmx, "C", begin + 994, begin + 998);
  }
  made.edge("B", "C");
  EXPECT_EQ(path_lines(made.profile).back(), "data C 2994+4");
  const WhatIf what_if = analysis_of(made.profile).what_if(scale_op(made.profile, made, "B", 0.5));
  EXPECT_EQ(what_if.before - what_if.after, 3 * 495);
}

TEST(Path, AWaitForALandingIsCountedAmongTheConstraints) {
  Made made;
  made.span(made.issuer, "Fill", 0, 5);
  made.span(made.issuer, "Fill", 5, 7, SpanKind::dma_wait);
  made.span(made.hvx, "Fill", 2, 100, SpanKind::dma_wait);
  made.span(made.hvx, "Mul", 100, 120);
  EXPECT_THAT(path_lines(made.profile), ElementsAre("start Fill 0+5", "DMA wait Mul 100+20"));
  const PathAnalysis paths = analysis_of(made.profile);
  EXPECT_EQ(paths.basis().constraints[std::size_t(Reason::dma_wait)], 1u);
}

TEST(Path, LooksAtNoMoreThreadsThanACoreHas) {
  Made made;
  constexpr std::uint32_t threads = 1'000;
  made.span(made.issuer, "Fill", 0, 5);
  made.span(made.issuer, "Fill", 5, 7, SpanKind::dma_wait);
  for (std::uint32_t i = 0; i < threads; ++i) {
    const UnitId thread = made.unit("HVX " + std::to_string(i), Engine::hvx);
    made.span(thread, "Fill", 2, 100, SpanKind::dma_wait);
    made.span(thread, "Mul", 100, 120);
  }
  const PathAnalysis paths = analysis_of(made.profile);
  const std::uint64_t waits = paths.basis().constraints[std::size_t(Reason::dma_wait)];
  EXPECT_GE(waits, threads - 1);
  EXPECT_LE(waits, 64u * threads + threads);  // and each for the landing that it waited for
}

TEST(Path, ATransferFollowsItsIssueAndFeedsItsConsumer) {
  Made made;
  made.span(made.issuer, "Load", 0, 5);
  made.span(made.engine, "Load", 0, 40, SpanKind::transfer);
  made.span(made.hmx, "MatMul", 42, 60);
  made.edge("Load", "MatMul");
  EXPECT_THAT(path_lines(made.profile),
              ElementsAre("start Load 0+5", "issue Load 5+35", "data MatMul 42+18"));
}

TEST(Path, AnEngineServesTransfersInTurn) {
  Made made;
  made.span(made.issuer, "L1", 0, 2);
  made.span(made.engine, "L1", 0, 40, SpanKind::transfer);
  made.span(made.issuer, "L2", 4, 6);
  made.span(made.engine, "L2", 4, 70, SpanKind::transfer);
  made.span(made.issuer, "L3", 41, 43);  // two in flight at most: when L1 was complete
  made.span(made.engine, "L3", 41, 90, SpanKind::transfer);
  const PathAnalysis analysis = analysis_of(made.profile);
  EXPECT_THAT(lines_of(made.profile, analysis.observed().steps),
              ElementsAre("start L1 0+2", "issue L1 2+38", "unit L2 40+30", "unit L3 70+20"));
  const ExecutionTimes times = analysis.executions();
  EXPECT_EQ(times.work[3], 30);
  // The issue of L3 could be as late as the engine is free.
  EXPECT_EQ(times.slack[4], 27);
  // Half of L1: L2 begins at 21; L3's issue then waits for L1 no more than before, one tick.
  EXPECT_EQ(analysis.what_if(scale_op(made.profile, made, "L1", 0.5)).after, 70);
}

TEST(Path, ThreadsOfAGroupWaitForOneAnotherAtABarrier) {
  Made made;
  const UnitId other = made.unit("HVX 1", Engine::hvx);
  made.span(made.hvx, "A", 0, 10);
  made.span(made.hvx, "A", 10, 30, SpanKind::barrier);
  made.span(other, "A", 0, 28);
  made.span(other, "A", 28, 30, SpanKind::barrier);
  made.span(made.hvx, "B", 30, 50);
  made.span(other, "B", 30, 45);
  const CriticalPath path = analysis_of(made.profile).observed();
  EXPECT_THAT(lines_of(made.profile, path.steps), ElementsAre("start A 0+28", "barrier B 30+20"));
  EXPECT_EQ(path.steps[0].unit, other);
}

TEST(Path, NestedSlicesArePiecesOfTheirUnit) {
  Made made;
  const SpanId outer = made.span(made.hvx, "call", 0, 100, SpanKind::slice);
  made.span(made.hvx, "launch", 20, 30, SpanKind::slice);
  const SpanId kernel = made.span(made.hmx, "kernel", 25, 200, SpanKind::slice);
  made.flow(SpanId(1), kernel);
  EXPECT_THAT(path_lines(made.profile),
              ElementsAre("start call 0+20", "unit launch 20+5", "flow kernel 25+175"));
  EXPECT_EQ(analysis_of(made.profile).executions().work[index_of(outer)], 90);
}

TEST(Path, OpsThatExecuteNothingHandOnWhatTheyDependOn) {
  Made made;
  made.span(made.hvx, "A", 0, 10);
  made.span(made.hmx, "B", 12, 20);
  made.edge("A", "Reshape");
  made.edge("Reshape", "Reshape2");
  made.edge("Const", "Reshape2");
  made.edge("Reshape2", "B");
  EXPECT_THAT(path_lines(made.profile), ElementsAre("start A 0+10", "data B 12+8"));
}

TEST(Path, OpsThatOverlapAreFollowedTileByTile) {
  Made made;
  made.span(made.hvx, "A", 0, 10);
  made.span(made.hvx, "A", 10, 20);
  made.span(made.hvx, "A", 20, 30);
  made.span(made.hmx, "B", 11, 19);
  made.span(made.hmx, "B", 21, 29);
  made.span(made.hmx, "B", 31, 39);
  made.edge("A", "B");
  const PathAnalysis analysis = analysis_of(made.profile);
  EXPECT_THAT(lines_of(made.profile, analysis.observed().steps),
              ElementsAre("start A 0+10", "unit A 10+10", "unit A 20+10", "data B 31+8"));
  EXPECT_EQ(analysis.basis().stepwise_edges, 1u);
  EXPECT_EQ(analysis.basis().unmet_edges, 0u);
}

TEST(Path, ConstraintsThatWereNotMetAreNone) {
  Made made;
  made.span(made.hvx, "A", 10, 30);
  const SpanId b = made.span(made.hmx, "B", 0, 20);
  made.edge("A", "B");
  made.flow(SpanId(0), b);
  const PathAnalysis analysis = analysis_of(made.profile);
  EXPECT_THAT(lines_of(made.profile, analysis.observed().steps), ElementsAre("start A 10+20"));
  EXPECT_EQ(analysis.basis().unmet_edges, 1u);
  EXPECT_EQ(analysis.basis().unmet_flows, 1u);
}

TEST(Path, EdgesInCirclesAreCountedAndHurtNothing) {
  Made made;
  made.span(made.hvx, "A", 0, 10);
  made.span(made.hmx, "B", 10, 20);
  made.span(made.hmx, "C", 20, 20);
  made.span(made.hvx, "D", 20, 20);
  for (const auto& [from, to] : {std::pair("A", "B"), {"B", "A"}, {"C", "D"}, {"D", "C"}}) {
    made.edge(from, to);
  }
  made.edge("B", "C");
  made.edge("B", "B");
  made.edge("X", "Y");
  made.edge("Y", "X");
  made.edge("Y", "A");
  const PathAnalysis analysis = analysis_of(made.profile);
  EXPECT_EQ(analysis.basis().cyclic_ops, 6u);
  EXPECT_EQ(analysis.basis().cyclic_constraints, 1u);
  EXPECT_EQ(analysis.observed().wall, 20);
  EXPECT_EQ(analysis.observed().work, 20);
}

TEST(Path, TakesTheInferenceNearestTheMedianOfAllButTheFirst) {
  Made made;
  for (const std::int64_t length : {90, 30, 41, 40, 50}) {
    const std::int64_t start = std::int64_t(made.profile.spans.size()) * 1'000;
    made.span(made.hvx, "A", start, start + length);
    made.profile.spans.instance.push_back(std::uint32_t(made.profile.spans.size()));
  }
  const PathAnalysis analysis = analysis_of(made.profile);
  EXPECT_EQ(analysis.basis().instance, 3u);  // of 40 and 41, as near, the first
  EXPECT_EQ(analysis.basis().instances, 5u);
  EXPECT_EQ(analysis.basis().median_wall, 40.5);
  EXPECT_EQ(analysis.basis().min_wall, 30);
  EXPECT_EQ(analysis.observed().wall, 41);
  const auto asked = PathAnalysis::create(made.profile, 1);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->observed().wall, 90);
  const auto missing = PathAnalysis::create(made.profile, 9);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "no inference 9: the profile has 5, numbered 1 to 5");
}

TEST(Path, RefusesWhatHasNoPath) {
  Made made;
  EXPECT_THAT(PathAnalysis::create(made.profile, std::nullopt).error().message,
              HasSubstr("no executions with times"));
  made.span(made.hvx, "A", 0, 10, SpanKind::sync);
  EXPECT_THAT(PathAnalysis::create(made.profile, std::nullopt).error().message,
              HasSubstr("no executions with times"));
  constexpr std::int64_t earliest = std::numeric_limits<std::int64_t>::min();
  made.span(made.hvx, "A", earliest, earliest + 10);
  made.span(made.hvx, "A", 0, std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(PathAnalysis::create(made.profile, std::nullopt).error().message,
              HasSubstr("more than 2^52 ticks apart"));
  EXPECT_THAT(PathAnalysis::create(made.profile, 0).error().message,
              HasSubstr("does not tell inferences apart"));
}

TEST(Path, GroupsAddUpToTheWorkOnThePath) {
  Made made;
  made.span(made.hvx, "A", 0, 10);
  made.span(made.hmx, "B", 12, 20);
  made.span(made.hmx, "C", 20, 45);
  made.span(made.hvx, "", 12, 15);
  made.edge("A", "B");
  const PathAnalysis analysis = analysis_of(made.profile);
  const CriticalPath path = analysis.observed();
  const PathOps ops =
      group_path_by_op(made.profile, Grouping::part, path.steps, executions_by_op(analysis));
  ASSERT_EQ(ops.rows.size(), 4u);
  EXPECT_EQ(ops.rows[0].name, "C");
  EXPECT_EQ(ops.rows[0].on_path, 25);
  EXPECT_EQ(ops.rows[1].on_path, 10);
  EXPECT_EQ(ops.rows[3].on_path, 0);
  EXPECT_EQ(ops.rows[3].slack, 30);
  EXPECT_EQ(ops.rows[3].name, "");
  EXPECT_THAT(ops.of_op, ElementsAre(1, 2, 0, 3));
  const auto units = group_path_by_unit(made.profile, path.steps);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].on_path + units[1].on_path, path.work);
  EXPECT_EQ(units[0].gaps, 2);
  const auto reasons = group_path_by_reason(path.steps);
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_EQ(reasons[1].gaps, 2);
}

}  // namespace
}  // namespace npuscope::analysis::path_test
