#include "analysis/ops/op_times.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/ops.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis::op_runs_test {
namespace {

using npuscope::test_support::ProfileBuilder;

IssuesBeside issues_of(const Profile& profile) { return {profile, Analysis(profile).self_times()}; }

// How long each run of an op took.
std::vector<std::int64_t> runs_of(const Profile& profile, OpId op) {
  const Spans& spans = profile.spans;
  OpRuns::Units units;
  OpRuns runs(profile, units);
  runs.begin(op);
  for (std::size_t row = 0; row < spans.size(); ++row) {
    if (spans.op[row] != op) continue;
    runs.add(spans.kind[row], spans.instance.empty() ? 0 : spans.instance[row], spans.unit[row],
             interval_of(spans, row));
  }
  std::vector<std::int64_t> lengths;
  const std::size_t count = runs.finish(lengths);
  EXPECT_EQ(count, lengths.size());
  return lengths;
}

TEST(OpRuns, ThreadsThatShareAnOpAreOneRunOfItInEachInference) {
  ProfileBuilder made;
  for (const char* name : {"HVX 0", "HVX 1", "HVX 2"}) {
    const UnitId thread = made.unit(name, Engine::hvx);
    made.span(thread, "add", 0, 10);
    made.span(thread, "add", 100, 110);
  }
  made.profile.spans.instance = {0, 1, 0, 1, 0, 1};
  EXPECT_EQ(runs_of(made.profile, OpId{0}).size(), 2u);
  made.profile.spans.instance = {0, 0, 0, 0, 0, 0};
  EXPECT_EQ(runs_of(made.profile, OpId{0}).size(), 2u);
}

// A graph that executed four ops in six tiles each: two threads run two tiles, two run one.
struct TiledOps : ProfileBuilder {
  std::vector<std::int64_t> lengths;  // first start to last end
  TiledOps() {
    std::vector<UnitId> threads;
    for (const char* name : {"HVX 512", "HVX 513", "HVX 514", "HVX 515"}) {
      threads.push_back(unit(name, Engine::hvx));
    }
    std::int64_t now = 1'000;
    for (const std::int64_t tile : {700, 800, 675, 865}) {
      OpId made{};
      for (std::size_t i = 0; i < 6; ++i) {
        const std::int64_t begin = now + (i < 4 ? std::int64_t(i) : tile);
        const SpanId added = span(threads[i % 4], "solve_" + std::to_string(tile), begin,
                                  begin + tile - 4, SpanKind::op, "Solve");
        made = profile.spans.op[index_of(added)];
      }
      profile.ops[index_of(made)].once_per_inference = true;
      lengths.push_back(2 * tile - 4);
      now += 2 * tile;
    }
  }
};

TEST(OpRuns, TwentyFourTilesOfFourExecutionsOnFourThreadsAreFourRunsNotEight) {
  const TiledOps made;
  for (std::uint32_t op = 0; op < 4; ++op) {
    EXPECT_THAT(runs_of(made.profile, OpId{op}), testing::ElementsAre(made.lengths[op]));
  }
  const OpTable table = Analysis(made.profile).ops({.grouping = Grouping::kind, .details = true});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].runs, 4u);
  EXPECT_EQ(table.rows[0].instances, 24u);
  EXPECT_EQ(table.rows[0].details.p50, (1'396. + 1'596) / 2);
  const OpTable by_thread =
      Analysis(made.profile).ops({.grouping = Grouping::unit, .details = true});
  for (const OpRow& row : by_thread.rows) EXPECT_EQ(row.runs, row.has_name ? 4u : 0u) << row.name;
}

TEST(OpRuns, AnIssueAndItsTransferAreOneRunAndTheIssueIsBesideIt) {
  ProfileBuilder made;
  const UnitId thread = made.unit("DMAIssue", Engine::dma_issue);
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(thread, "copy", 0, 3);
  made.span(dma, "copy", 1, 20, SpanKind::transfer);
  made.span(thread, "blocked", 20, 30);
  made.span(dma, "blocked", 22, 25, SpanKind::transfer);
  made.span(dma, "unseen issue", 40, 50, SpanKind::transfer);
  for (std::uint32_t op = 0; op < 3; ++op) EXPECT_EQ(runs_of(made.profile, OpId{op}).size(), 1u);
  const IssuesBeside issues = issues_of(made.profile);
  EXPECT_EQ(issues.of(0), 2);
  EXPECT_EQ(issues.of(2), 3);
  EXPECT_EQ(issues.of(1) + issues.of(3) + issues.of(4), 0);
}

TEST(OpRuns, SlicesAreARunEachAndWaitsAreNone) {
  ProfileBuilder made;
  const UnitId first = made.unit("t1", Engine::thread), second = made.unit("t2", Engine::thread);
  made.span(first, "step", 0, 10, SpanKind::slice);
  made.span(second, "step", 0, 10, SpanKind::slice);
  made.span(second, "step", 10, 20, SpanKind::sync);
  made.span(second, "step", 0, 40, SpanKind::async);
  made.span(second, "", 0, 10, SpanKind::slice);
  EXPECT_EQ(runs_of(made.profile, OpId{0}).size(), 3u);
  EXPECT_EQ(runs_of(made.profile, OpId::none).size(), 1u);
}

TEST(OpRuns, OneOpAfterAnotherKnowNothingOfEachOther) {
  ProfileBuilder made;
  const UnitId thread = made.unit("DMAIssue", Engine::dma_issue);
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(thread, "copy", 0, 3);
  made.span(dma, "copy", 1, 20, SpanKind::transfer);
  made.span(thread, "add", 30, 34);
  const Spans& spans = made.profile.spans;
  OpRuns::Units units;
  OpRuns runs(made.profile, units);
  std::vector<std::int64_t> lengths;
  for (const OpId op : {OpId{0}, OpId{1}, OpId{0}}) {
    runs.begin(op);
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (spans.op[row] != op) continue;
      runs.add(spans.kind[row], 0, spans.unit[row], interval_of(spans, row));
    }
    EXPECT_EQ(runs.finish(lengths), 1u);
  }
  EXPECT_THAT(lengths, testing::ElementsAre(20, 4, 20));
}

// The obvious way: each moment of each span of the thread is looked for in every transfer.
// The n-th piece of each unit, by their begins, is of the n-th run: a slow twin that looks for it.
std::vector<std::int64_t> slow_runs(const Spans& spans) {
  std::map<std::uint32_t, std::map<std::size_t, Interval>> runs;  // by inference
  for (std::size_t row = 0; row < spans.size(); ++row) {
    std::size_t place = 0;
    for (std::size_t other = 0; other < spans.size(); ++other) {
      place += spans.instance[other] == spans.instance[row] &&
               spans.unit[other] == spans.unit[row] && spans.start[other] < spans.start[row];
    }
    const Interval piece = interval_of(spans, row);
    Interval& run = runs[spans.instance[row]].try_emplace(place, piece).first->second;
    run = {std::min(run.begin, piece.begin), std::max(run.end, piece.end)};
  }
  std::vector<std::int64_t> lengths;
  for (const auto& [inference, of_inference] : runs) {
    for (const auto& [place, run] : of_inference) lengths.push_back(length_of(run));
  }
  return lengths;
}

TEST(OpRuns, AreTheSameInWhateverOrderTheirPiecesCome) {
  std::mt19937_64 random(19);
  for (int round = 0; round < 500; ++round) {
    ProfileBuilder made;
    const std::size_t units = 1 + random() % 4, inferences = 1 + random() % 4;
    std::vector<UnitId> threads;
    for (std::size_t i = 0; i < units; ++i) threads.push_back(made.unit("HVX", Engine::hvx));
    const bool in_order = random() % 3 == 0;
    const std::size_t pieces = 1 + random() % 30;
    std::set<std::int64_t> begins;
    while (begins.size() < pieces) begins.insert(std::int64_t(random() % 200));
    std::vector<std::int64_t> order(begins.begin(), begins.end());
    if (!in_order) std::shuffle(order.begin(), order.end(), random);
    for (const std::int64_t begin : order) {
      made.span(threads[random() % units], "add", begin, begin + std::int64_t(random() % 20));
      made.profile.spans.instance.push_back(std::uint32_t(random() % inferences));
      if (random() % 8 == 0) made.profile.spans.unit.back() = UnitId::none;
    }
    ASSERT_EQ(runs_of(made.profile, OpId{0}), slow_runs(made.profile.spans)) << round;
  }
}

TEST(OpRuns, BesideIsEveryMomentInWhichATransferOfTheSameOpRuns) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    ProfileBuilder made;
    const UnitId thread = made.unit("DMAIssue", Engine::dma_issue);
    const UnitId dma = made.unit("DMA", Engine::dma);
    std::int64_t free = 0;  // one thread issues one after another
    for (int i = 0; i < 8; ++i) {
      const char* op = random() % 2 ? "a" : "b";
      const std::int64_t begin = free + random() % 5;
      free = begin + random() % 6;
      made.span(thread, op, begin, free);
      const std::int64_t transfer = random() % 40;
      made.span(dma, op, transfer, transfer + random() % 9, SpanKind::transfer);
    }
    const Spans& spans = made.profile.spans;
    const IssuesBeside issues = issues_of(made.profile);
    for (std::size_t row = 0; row < spans.size(); ++row) {
      std::set<std::int64_t> moments;
      for (std::size_t other = 0; other < spans.size() && spans.kind[row] == SpanKind::op;
           ++other) {
        if (spans.kind[other] != SpanKind::transfer || spans.op[other] != spans.op[row]) continue;
        for (std::int64_t t = spans.start[row]; t < spans.start[row] + spans.duration[row]; ++t) {
          const bool runs_then =
              spans.start[other] <= t && t < spans.start[other] + spans.duration[other];
          if (runs_then) moments.insert(t);
        }
      }
      ASSERT_EQ(issues.of(row), std::int64_t(moments.size())) << "in round " << round;
    }
  }
}

TEST(OpTable, WorkOfATransferIsItsOwnTimeAndTheIssueStandsBesideIt) {
  ProfileBuilder made;
  const UnitId thread = made.unit("DMAIssue", Engine::dma_issue);
  const UnitId dma = made.unit("DMA", Engine::dma);
  made.span(thread, "copy", 0, 3);
  made.span(dma, "copy", 0, 20, SpanKind::transfer);
  made.span(thread, "flush", 5, 9);
  const OpTable table = Analysis(made.profile).ops({Grouping::part, 10});
  const OpRow& copy = table.rows[0];
  EXPECT_EQ(copy.runs, 1u);
  EXPECT_EQ(copy.instances, 2u);
  EXPECT_EQ(copy.values[*table.place_of("work")], 20);
  EXPECT_EQ(copy.values[*table.place_of("issue")], 3);
  EXPECT_EQ(table.rows[1].values[*table.place_of("work")], 4);
  EXPECT_EQ(table.rows[1].values[*table.place_of("issue")], std::nullopt);
}

}  // namespace
}  // namespace npuscope::analysis::op_runs_test
