#include "npuscope/analysis/coarse.hpp"

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <vector>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/analysis.hpp"

namespace npuscope::analysis::coarse_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;

Coarse coarse_of(const Profile& profile) { return Analysis(profile).coarse(); }

TEST(Coarse, ThePartsAddUpToTheWall) {
  ProfileBuilder made;
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  const UnitId dma = made.unit("DMA", Engine::dma);
  const UnitId host = made.unit("CPU", Engine::host);
  const UnitId thread = made.unit("t", Engine::thread);
  made.span(hmx, "a", 0, 40);
  made.span(dma, "b", 30, 60);
  made.span(thread, "c", 55, 70, SpanKind::slice);
  made.span(host, "d", 65, 80, SpanKind::host);
  made.span(hmx, "a", 70, 90, SpanKind::sync);
  made.span(hmx, "a", 78, 86, SpanKind::dma_wait);
  made.span(hmx, "", 0, 100, SpanKind::inference);
  made.span(hmx, "", -50, 0, SpanKind::activation);
  const Coarse coarse = coarse_of(made.profile);
  EXPECT_EQ(coarse.wall, 100);
  EXPECT_THAT(coarse.parts, ElementsAre(30, 10, 20, 0, 10, 10, 6, 4, 10));
  EXPECT_TRUE(coarse.has_parts());
  EXPECT_EQ(coarse.active, 80);
  EXPECT_EQ(coarse.work, 40 + 30 + 15 + 15);
  EXPECT_EQ(coarse.gaps, 1u);
  EXPECT_EQ(coarse.longest_gap, 10);
}

TEST(Coarse, WallOfInferencesIsFirstAndMedianOfTheRest) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HMX", Engine::hmx);
  std::int64_t at = 0;
  for (const std::int64_t wall : {500, 100, 130, 110}) {
    made.span(unit, "a", at, at + wall);
    at += 1'000;
  }
  for (const std::uint32_t instance : {0, 1, 2, 3}) made.profile.spans.instance.push_back(instance);
  const Coarse coarse = coarse_of(made.profile);
  EXPECT_EQ(coarse.inferences.count, 4u);
  EXPECT_EQ(coarse.inferences.first, 500);
  EXPECT_EQ(coarse.inferences.median_of_rest, 110);
  EXPECT_EQ(coarse.inferences.median, 120);
  EXPECT_EQ(coarse.inferences.min, 100);
}

struct Running {
  bool of[domain_count] = {}, waits_for_dma = false, waits = false;

  void add(const Profile& profile, std::size_t row) {
    const SpanKind kind = profile.spans.kind[row];
    if (role_of(kind) == Role::work) of[std::size_t(domain_of(profile, row))] = true;
    (kind == SpanKind::dma_wait ? waits_for_dma : waits) |= role_of(kind) == Role::wait;
  }
  Part part() const {
    const auto is = [&](Domain domain) { return of[std::size_t(domain)]; };
    if (is(Domain::compute)) {
      return is(Domain::movement) ? Part::compute_and_movement : Part::compute_alone;
    }
    if (is(Domain::movement)) return Part::movement_alone;
    if (is(Domain::other)) return Part::other_work;
    if (is(Domain::host)) return Part::host_alone;
    if (waits_for_dma) return Part::waiting_for_dma;
    return waits ? Part::other_waiting : Part::idle;
  }
};

// With any of the classes of hardware there or not.
TEST(Coarse, DividesTheWallMomentByMoment) {
  constexpr std::array engines{Engine::hvx, Engine::dma, Engine::host, Engine::none};
  constexpr std::array kinds{SpanKind::op, SpanKind::sync, SpanKind::dma_wait};
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    ProfileBuilder made;
    std::vector<UnitId> units;
    for (const Engine engine : engines) {
      if (random() % 2 == 0) units.push_back(made.unit("unit", engine));
    }
    for (std::size_t i = 0; !units.empty() && i < 1 + random() % 12; ++i) {
      const std::int64_t begin = std::int64_t(random() % 50);
      made.span(units[random() % units.size()], "op", begin, begin + std::int64_t(random() % 12),
                kinds[random() % kinds.size()]);
    }
    const Profile& profile = made.profile;
    const Coarse coarse = coarse_of(profile);
    std::array<std::int64_t, part_count> parts{};
    std::int64_t active = 0;
    for (std::int64_t now = coarse.timeline.begin; now < coarse.timeline.end; ++now) {
      Running running;
      for (std::size_t row = 0; row < profile.spans.size(); ++row) {
        const Interval interval = interval_of(profile.spans, row);
        if (interval.begin <= now && now < interval.end) running.add(profile, row);
      }
      parts[std::size_t(running.part())] += 1;
      active += running.part() < Part::waiting_for_dma;
    }
    for (std::size_t part = 0; part < part_count; ++part) {
      ASSERT_EQ(coarse.parts[part], parts[part]) << name_of(Part(part)) << " in round " << round;
    }
    ASSERT_EQ(coarse.active, active) << "in round " << round;
  }
}

}  // namespace
}  // namespace npuscope::analysis::coarse_test
