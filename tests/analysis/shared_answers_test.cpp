// One Analysis asked by many at once: every answer is worked out once, and is the one that a single
// asker gets.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <thread>

#include "analysis/ops/op_spans.hpp"
#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis::shared_answers_test {
namespace {

Profile random_run(std::uint32_t seed) {
  test_support::ProfileBuilder made;
  std::mt19937 random(seed);
  std::vector<UnitId> units;
  for (int i = 0; i < 6; ++i) {
    const Engine engines[] = {Engine::hmx, Engine::hvx, Engine::dma};
    units.push_back(made.unit("unit " + std::to_string(i), engines[i % 3]));
  }
  std::vector<std::int64_t> time(units.size(), 0);
  for (int i = 0; i < 3'000; ++i) {
    const std::size_t unit = random() % units.size();
    const std::int64_t begin = time[unit] + std::int64_t(random() % 5);
    time[unit] = begin + 1 + std::int64_t(random() % 40);
    made.span(units[unit], "op " + std::to_string(random() % 50), begin, time[unit],
              random() % 8 == 0 ? SpanKind::dma_wait : SpanKind::op, "kind");
  }
  return std::move(made.profile);
}

std::string told(const Analysis& analysis, std::size_t first) {
  std::string text[7];
  const std::function<void()> questions[] = {
      [&] { text[0] = std::to_string(analysis.coarse().active); },
      [&] { text[1] = std::to_string(analysis.units().units.back().busy); },
      [&] { text[2] = std::to_string(analysis.overlap().several); },
      [&] { text[3] = std::to_string(analysis.imbalance().size()); },
      [&] { text[4] = analysis.ops({.top = 1}).rows.front().name; },
      [&] { text[5] = std::to_string(analysis.path()->observed().wall); },
      [&] { text[6] = std::to_string(analysis.findings().findings.size()); }};
  for (std::size_t i = 0; i < std::size(questions); ++i) {
    questions[(first + i) % std::size(questions)]();
  }
  std::string all;
  for (const std::string& each : text) all += each + " ";
  return all;
}

// A path that has no spans by unit to share keeps waits alone.
TEST(SharedAnswers, APathIsTheSameWhetherSpansByUnitAreSharedOrNot) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Profile profile = random_run(seed);
    std::mt19937 random(seed);
    for (SpanKind& kind : profile.spans.kind) {
      if (kind == SpanKind::dma_wait) kind = SpanKind::sync;
    }
    for (std::uint32_t op = 1; op < profile.ops.size(); ++op) {
      profile.edges.push_back({OpId(random() % op), OpId(op), EdgeKind::data});
    }
    const Analysis alone(profile), shared(profile);
    shared.spans_by_unit();
    const CriticalPath is = alone.path()->observed(), was = shared.path()->observed();
    ASSERT_EQ(is.steps.size(), was.steps.size());
    std::int64_t syncs = 0;
    for (std::size_t i = 0; i < is.steps.size(); ++i) {
      EXPECT_EQ(is.steps[i].row, was.steps[i].row);
      EXPECT_EQ(is.steps[i].reason, was.steps[i].reason);
      EXPECT_TRUE(std::ranges::equal(is.steps[i].gap_parts, was.steps[i].gap_parts));
      syncs += is.steps[i].gap_parts[std::size_t(GapPart::sync)];
    }
    EXPECT_GT(syncs, 0);
  }
}

TEST(SharedAnswers, AreTheSameForAllWhoAskAtOnce) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const Profile profile = random_run(seed);
    const std::string alone = told(Analysis(profile), 0);
    const Analysis shared(profile);
    std::string answers[6];
    {
      std::vector<std::jthread> askers;
      for (std::size_t i = 0; i < std::size(answers); ++i) {
        askers.emplace_back([&, i] { answers[i] = told(shared, i); });
      }
    }
    for (const std::string& answer : answers) EXPECT_EQ(answer, alone) << seed;
  }
}

TEST(SharedAnswers, AreGivenOnce) {
  const Profile profile = random_run(1);
  const Analysis analysis(profile);
  EXPECT_EQ(&analysis.self_times(), &analysis.self_times());
  EXPECT_EQ(&analysis.coarse(), &analysis.coarse());
  EXPECT_EQ(&analysis.path(), &analysis.path());
}

TEST(SharedAnswers, ThatTakeMuchMemoryAreThereWhileTheyAreHeld) {
  const Profile profile = random_run(1);
  const Analysis analysis(profile);
  auto first = analysis.spans_by_op();
  const std::weak_ptr<const OpSpansInGroups> held = analysis.spans_by_op();
  EXPECT_EQ(held.lock(), first);
  first.reset();
  EXPECT_TRUE(held.expired());
  EXPECT_EQ(analysis.spans_by_op()->of(0).size(), Analysis(profile).spans_by_op()->of(0).size());
}

TEST(SharedAnswers, OfAPartAreOfThatPart) {
  const Profile profile = random_run(2);
  const Analysis whole(profile);
  Filter filter;
  filter.keeps_unit = [](const Profile&, UnitId unit) { return index_of(unit) == 3; };
  const Analysis part = whole.part(filter);
  ASSERT_EQ(part.units().units.size(), 1u);
  EXPECT_EQ(part.units().units[0].busy, whole.units().units[3].busy);
}

}  // namespace
}  // namespace npuscope::analysis::shared_answers_test
