#include "analysis/path/path_groups.hpp"

#include <gtest/gtest.h>

#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/timeline.hpp"

namespace npuscope::analysis::path_likely_test {
namespace {

struct Answer {
  CriticalPath path;
  LikelyReasons likely;
};

Answer answer_of(const Profile& profile) {
  const auto analysis = PathAnalysis::create(profile, std::nullopt);
  EXPECT_TRUE(analysis) << analysis.error().message;
  Answer answer;
  answer.path = analysis->observed();
  answer.likely = likely_reasons(profile, answer.path, analysis->basis().instance);
  return answer;
}

// C waits for nothing recorded on its unit; on another one B ended just before it.
TEST(LikelyReasons, NameWhatEndedJustBefore) {
  test_support::ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), hvx = made.unit("HVX", Engine::hvx);
  made.span(hmx, "A", 0, 1'000);
  made.span(hvx, "Early", 0, 2'800);
  made.span(hvx, "B", 2'800, 4'980);
  made.span(hmx, "C", 5'000, 6'000);
  const Answer answer = answer_of(made.profile);
  ASSERT_EQ(answer.likely.reasons.size(), 1u);
  const LikelyReason& reason = answer.likely.reasons[0];
  EXPECT_EQ(answer.path.steps[reason.step].row, 3u);
  EXPECT_EQ(answer.path.steps[reason.step].reason, Reason::unit);
  EXPECT_EQ(reason.row, 2u);
  EXPECT_EQ(reason.ended_before, 20);
  EXPECT_EQ(answer.likely.within, 100);
  EXPECT_EQ(answer.likely.waiting, 4'000);
  EXPECT_NEAR(answer.likely.by_chance, 300.0 / 6'000, 0.002);  // after A, Early and B
}

TEST(LikelyReasons, SayNothingOfWhatIsRecordedOrShortOrFar) {
  test_support::ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx), hvx = made.unit("HVX", Engine::hvx);
  made.span(hmx, "A", 0, 1'000);
  made.span(hvx, "B", 0, 4'980);
  made.span(hmx, "C", 1'000, 5'000, SpanKind::sync);
  made.span(hmx, "C", 5'000, 6'000);
  made.span(hvx, "D", 5'000, 6'050);
  made.span(hmx, "E", 6'090, 7'000);  // short
  made.span(hvx, "F", 6'050, 8'000);
  made.span(hmx, "G", 9'000, 10'000);  // far
  const Answer answer = answer_of(made.profile);
  EXPECT_TRUE(answer.likely.reasons.empty());
  EXPECT_EQ(answer.likely.waiting, 0);
}

TEST(LikelyReasons, CountTicksOfTimersBySeconds) {
  test_support::ProfileBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  const UnitId hmx = made.unit("HMX", Engine::hmx), hvx = made.unit("HVX", Engine::hvx);
  made.span(hmx, "A", 0, 100);
  made.span(hvx, "B", 0, 498);
  made.span(hmx, "C", 500, 600);
  const Answer answer = answer_of(made.profile);
  EXPECT_EQ(answer.likely.within, 2);
  ASSERT_EQ(answer.likely.reasons.size(), 1u);
  EXPECT_EQ(answer.likely.reasons[0].row, 1u);
}

// The slow way: for every step all spans.
TEST(LikelyReasons, AreThoseOfAPlainSearch) {
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    test_support::ProfileBuilder made;
    for (int lane = 0; lane < 4; ++lane) {
      const UnitId unit = made.unit("lane" + std::to_string(lane), Engine::hvx);
      std::int64_t time = 0;
      for (int i = 0; i < 12; ++i) {
        time += std::int64_t(random() % 3 == 0 ? random() % 900 : random() % 40);
        const auto end = time + 1 + std::int64_t(random() % 500);
        made.span(unit, "op" + std::to_string(lane) + "." + std::to_string(i), time, end);
        time = end;
      }
    }
    const Answer answer = answer_of(made.profile);
    const Spans& spans = made.profile.spans;
    std::vector<std::pair<std::size_t, std::int64_t>> expected, got;
    for (std::size_t i = 0; i < answer.path.steps.size(); ++i) {
      const PathStep& step = answer.path.steps[i];
      const bool free = step.reason == Reason::start || step.reason == Reason::unit;
      const std::int64_t wait = free ? step.gap : step.delay;
      if (wait <= 100) continue;
      std::int64_t latest = -1;
      for (std::size_t row = 0; row < spans.size(); ++row) {
        const std::int64_t end = interval_of(spans, row).end;
        const bool close = end <= step.start && step.start - end <= 100;
        if (spans.unit[row] != step.unit && close) latest = std::max(latest, end);
      }
      if (latest >= 0) expected.emplace_back(i, step.start - latest);
    }
    for (const LikelyReason& each : answer.likely.reasons) {
      got.emplace_back(each.step, each.ended_before);
    }
    EXPECT_EQ(got, expected) << seed;
    found += got.size();
  }
  EXPECT_GT(found, 100u);
}

}  // namespace
}  // namespace npuscope::analysis::path_likely_test
