// A host that waits in the midst of an op does not work meanwhile.
#include <gmock/gmock.h>

#include <random>

#include "analysis/profile_builder.hpp"
#include "analysis/units/unit_busy.hpp"
#include "npuscope/analysis/analysis.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "npuscope/analysis/timeline_rows.hpp"
#include "profile/self_times.hpp"

namespace npuscope::analysis::held_within_work_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;

struct Host : ProfileBuilder {
  UnitId thread = unit("thread", Engine::thread);

  IntervalSet held() const {
    const SpansByUnit by_unit(profile);
    return held_within_work(by_unit.spans_of(thread));
  }
};

TEST(HeldWithinWork, AWaitForTheDeviceWasWorkOfTheOpAroundIt) {
  Host made;
  made.span(made.thread, "aten::item", 0, 100, SpanKind::host);
  made.span(made.thread, "cudaStreamSynchronize", 20, 90, SpanKind::wait);
  EXPECT_THAT(made.held(), ElementsAre(Interval{20, 90}));
  const auto own = Analysis(made.profile).self_times();
  EXPECT_EQ(own.size(), 2);
  EXPECT_EQ(own[0], 30);
  EXPECT_EQ(own[1], 70);
  EXPECT_THAT(Analysis(made.profile).unit_busy()[0].busy,
              ElementsAre(Interval{0, 20}, Interval{90, 100}));
  const Coarse coarse = Analysis(made.profile).coarse();
  EXPECT_EQ(coarse.parts[std::size_t(Part::host_alone)], 30);
  EXPECT_EQ(coarse.parts[std::size_t(Part::other_waiting)], 70);
  const TimelineRows rows = Analysis(made.profile).timeline();
  EXPECT_EQ(rows.rows[0].busy, 30);
  EXPECT_EQ(rows.rows[0].waiting, 70);
}

TEST(HeldWithinWork, WaitsBesideWorkHoldNothing) {
  Host made;
  made.span(made.thread, "a", 0, 10, SpanKind::host);
  made.span(made.thread, "b", 10, 30, SpanKind::wait);
  made.span(made.thread, "c", 15, 20, SpanKind::host);  // within the wait: it works
  EXPECT_THAT(made.held(), ElementsAre());
}

TEST(HeldWithinWork, AnAnnotationIsNoWork) {
  Host made;
  made.span(made.thread, "step", 0, 100, SpanKind::annotation);
  made.span(made.thread, "wait", 20, 90, SpanKind::wait);
  EXPECT_THAT(made.held(), ElementsAre());
  const Coarse coarse = Analysis(made.profile).coarse();
  EXPECT_EQ(coarse.wall, 100);  // the step is when it was looked
  EXPECT_EQ(coarse.active, 0);
  EXPECT_EQ(coarse.parts[std::size_t(Part::idle)], 30);
}

// Moment by moment: of the spans open then, the last to begin says whether the unit works.
TEST(HeldWithinWork, AgreesWithASlowTwinOnNestedSpans) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Host made;
    const auto nest = [&](const auto& self, std::int64_t begin, std::int64_t end) -> void {
      for (std::int64_t at = begin; at + 1 < end;) {
        const std::int64_t last = at + 1 + std::int64_t(random() % std::uint64_t(end - at));
        const bool waits = random() % 3 == 0;
        made.span(made.thread, "x", at, last, waits ? SpanKind::wait : SpanKind::host);
        if (random() % 2 == 0) self(self, at, last);
        at = last + std::int64_t(random() % 3);
      }
    };
    nest(nest, 0, 24);
    const SpansByUnit by_unit(made.profile);
    std::int64_t works = 0;
    for (std::int64_t moment = 0; moment < 30; ++moment) {
      bool works_now = false;
      for (const SpanOfUnit& span : by_unit.spans_of(made.thread)) {
        if (span.begin > moment || span.end <= moment) continue;
        works_now = span.kind == SpanKind::host;  // the innermost comes last
      }
      works += works_now ? 1 : 0;
    }
    const auto own = Analysis(made.profile).self_times();
    EXPECT_EQ(Analysis(made.profile).coarse().host_active, works);
    std::int64_t own_work = 0;
    for (std::size_t row = 0; row < own.size(); ++row) {
      own_work += made.profile.spans.kind[row] == SpanKind::host ? own[row] : 0;
    }
    EXPECT_EQ(own_work, works);
  }
}

TEST(EngineOfKind, DecidesWhereTheUnitIsOnlyAThread) {
  ProfileBuilder made;
  const UnitId thread = made.unit("stream 7", Engine::thread);
  const UnitId hmx = made.unit("HMX", Engine::hmx);
  made.span(thread, "a", 0, 1, SpanKind::kernel);
  made.span(thread, "b", 1, 2, SpanKind::copy);
  made.span(thread, "c", 2, 3, SpanKind::communication);
  made.span(thread, "d", 3, 4, SpanKind::runtime_call);
  made.span(thread, "e", 4, 5, SpanKind::slice);
  made.span(hmx, "f", 0, 1, SpanKind::kernel);
  const Profile& profile = made.profile;
  EXPECT_EQ(domain_of(profile, 0), Domain::compute);
  EXPECT_EQ(domain_of(profile, 1), Domain::movement);
  EXPECT_EQ(domain_of(profile, 2), Domain::communication);
  EXPECT_EQ(domain_of(profile, 3), Domain::host);
  EXPECT_EQ(domain_of(profile, 4), Domain::other);
  EXPECT_EQ(engine_of(profile, 5), Engine::hmx);
}

}  // namespace
}  // namespace npuscope::analysis::held_within_work_test
