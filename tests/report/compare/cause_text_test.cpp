#include "report/compare/cause_text.hpp"

#include <gmock/gmock.h>

#include <random>

#include "analysis/compare/schedule_change.hpp"
#include "analysis/profile_builder.hpp"

namespace npuscope::report::cause_text_test {
namespace {

using analysis::Comparison;
using analysis::SchedulePart;

struct Schedule {
  std::vector<Interval> dma, slice_0, slice_1;
  double bytes = 0, blocks = 0;
};

// A compiler's estimate, with what its reader states of the schedule.
Profile profile_of(const Schedule& schedule) {
  test_support::ProfileBuilder made;
  Profile& profile = made.profile;
  profile.provenance.times = Origin::estimated;
  const UnitId dma = made.unit("DMA", Engine::dma), first = made.unit("Slice 0", Engine::compute),
               second = made.unit("Slice 1", Engine::compute);
  const auto add = [&](UnitId unit, SpanKind kind, const std::vector<Interval>& at) {
    for (const Interval& each : at) made.span(unit, "op", each.begin, each.end, kind, "kernel");
  };
  add(dma, SpanKind::transfer, schedule.dma);
  add(first, SpanKind::op, schedule.slice_0);
  add(second, SpanKind::op, schedule.slice_1);
  std::vector<Interval> compute = schedule.slice_0;
  compute.insert(compute.end(), schedule.slice_1.begin(), schedule.slice_1.end());
  const IntervalSet moves = union_of(schedule.dma), computes = union_of(std::move(compute));
  const std::int64_t hidden = length_of(intersection_of(moves, computes));
  const auto state = [&](const NamedNumber& number, double value) {
    profile.add_measure(Measure::Subject::profile, 0, number, Origin::estimated, profile.base_clock,
                        value);
  };
  state({"DMA behind compute", MeasureKind::active, NumberRole::hidden_transfer}, double(hidden));
  state({"exposed DMA", MeasureKind::active, NumberRole::exposed_transfer},
        double(length_of(moves) - hidden));
  state({"code blocks", NumberQuantity::count, NumberRole::code_fetches}, schedule.blocks);
  if (schedule.bytes > 0) {
    profile.add_measure(Measure::Subject::profile, 0,
                        {"ddr read bytes", NumberQuantity::bytes, NumberRole::ddr_read},
                        Origin::estimated, profile.base_clock, schedule.bytes);
  }
  return std::move(made.profile);
}

Comparison compared(const Profile& a, const Profile& b) {
  const analysis::RunSamples run_a(a), run_b(b);
  return analysis::Comparer::make({&run_a, 1}, {&run_b, 1})->compare({});
}

std::string cause(const Schedule& a, const Schedule& b) {
  const Profile of_a = profile_of(a), of_b = profile_of(b);
  return cause_text(compared(of_a, of_b));
}

TEST(CauseText, LessOverlap) {
  EXPECT_EQ(cause({{{0, 100}}, {{0, 100}}, {}}, {{{0, 100}}, {{100, 200}}, {}}),
            "less overlap of DMA and compute: exposed DMA 0 -> 100 cycles, +100 of the wall's "
            "+100");
  EXPECT_EQ(cause({{{0, 100}}, {{100, 200}}, {}}, {{{0, 100}}, {{20, 120}}, {}}),
            "more overlap of DMA and compute: exposed DMA 100 -> 20 cycles, -80 of the wall's -80");
}

TEST(CauseText, MoreTransfersAndBlocks) {
  EXPECT_EQ(cause({{{0, 100}}, {{100, 200}}, {}, 0, 4}, {{{0, 160}}, {{160, 260}}, {}, 0, 9}),
            "more DMA that no compute hides: exposed DMA 100 -> 160 cycles, +60 of the wall's +60; "
            "code blocks 4 -> 9");
}

TEST(CauseText, SlowerTransfersOfAsManyBytes) {
  EXPECT_EQ(
      cause({{{0, 100}}, {{100, 200}}, {}, 400}, {{{0, 200}}, {{200, 300}}, {}, 400}),
      "slower DMA: exposed DMA 100 -> 200 cycles, +100 of the wall's +100; DMA 4.00 -> 2.00 bytes "
      "a cycle");
}

TEST(CauseText, UnitsThatComputeAtOnceAgainstLessOverlap) {
  EXPECT_EQ(cause({{{0, 100}}, {{0, 100}}, {{100, 200}}}, {{{0, 30}}, {{30, 130}}, {{30, 130}}}),
            "more compute at once on several units: time with compute 200 -> 100 cycles, -100 of "
            "the wall's -70; against it less overlap of DMA and compute: exposed DMA 0 -> 30 "
            "cycles, +30");
}

TEST(CauseText, TimeWithNothingAtWork) {
  EXPECT_EQ(cause({{}, {{0, 100}}, {}}, {{}, {{0, 50}, {150, 200}}, {}}),
            "more time with no unit at work: time with no unit at work 0 -> 100 cycles, +100 of "
            "the wall's +100");
}

TEST(CauseText, NothingWhereTheWallsAreTheSameOrMeasured) {
  const Schedule one{{{0, 100}}, {{100, 200}}, {}}, other{{{0, 100}}, {{90, 200}}, {}};
  EXPECT_EQ(cause(one, one), "");
  EXPECT_EQ(cause(one, other), "");
  Profile a = profile_of(one), b = profile_of({{{0, 100}}, {{100, 300}}, {}});
  EXPECT_NE(cause_text(compared(a, b)), "");
  for (Profile* each : {&a, &b}) each->provenance.times = Origin::measured;
  EXPECT_EQ(cause_text(compared(a, b)), "");
}

// The parts add up to the wall, and what goes its way comes first.
TEST(ScheduleChange, PartsAddUpToTheWall) {
  std::mt19937 random(8);
  const auto intervals = [&] {
    std::vector<Interval> all;
    for (std::uint32_t i = 0; i < random() % 5; ++i) {
      const auto begin = std::int64_t(random() % 100);
      all.push_back({begin, begin + 1 + std::int64_t(random() % 40)});
    }
    return all;
  };
  int changes = 0;
  for (int round = 0; round < 300; ++round) {
    const Profile a = profile_of({intervals(), intervals(), {{0, 1}}}),
                  b = profile_of({intervals(), intervals(), {{0, 1}}});
    const auto comparison = compared(a, b);
    const auto change = analysis::find_schedule_change(comparison);
    if (!change) continue;
    ++changes;
    double sum = 0, sum_a = 0;
    for (const SchedulePart& part : change->parts) {
      sum += part.delta();
      sum_a += part.a;
      EXPECT_GE(part.a, 0);
      EXPECT_GE(part.b, 0);
    }
    EXPECT_EQ(sum, change->wall_delta());
    EXPECT_EQ(sum_a, change->wall_a);
    EXPECT_GT(change->parts.front().delta() * change->wall_delta(), 0);
  }
  EXPECT_GT(changes, 200);
}

TEST(CauseText, OfAWallAndAWorkThatWentDifferentWays) {
  const auto run = [](const std::vector<Interval>& first, const std::vector<Interval>& second) {
    test_support::ProfileBuilder made;
    const UnitId units[] = {made.unit("core 0", Engine::compute),
                            made.unit("core 1", Engine::compute)};
    for (const Interval& at : first)
      made.span(units[0], "op", at.begin, at.end, SpanKind::op, "kernel");
    for (const Interval& at : second)
      made.span(units[1], "op", at.begin, at.end, SpanKind::op, "kernel");
    return std::move(made.profile);
  };
  const Profile one = run({{0, 1000}}, {}), two = run({{0, 600}}, {{0, 600}}),
                less = run({{0, 900}}, {});
  EXPECT_EQ(
      cause_text(compared(one, two)),
      "B is faster and does more work (the wall changes by -40.0 %, the work by +20.0 %): more "
      "of it runs at the same time, on other units or cores");
  EXPECT_EQ(
      cause_text(compared(two, one)),
      "B is slower and does less work (the wall changes by +66.7 %, the work by -16.7 %): less "
      "of it runs at the same time, or units wait longer");
  EXPECT_EQ(cause_text(compared(one, less)), "");  // the same way
  EXPECT_EQ(cause_text(compared(one, one)), "");
}

}  // namespace
}  // namespace npuscope::report::cause_text_test
