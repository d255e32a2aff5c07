#include "analysis/units/unit_numbers.hpp"

#include <gtest/gtest.h>

namespace npuscope::analysis::clocks_test {
namespace {

void frame(Profile& profile, UnitId unit, std::uint32_t inference, std::int64_t ticks,
           std::int64_t cycles) {
  Spans& spans = profile.spans;
  spans.unit.push_back(unit);
  spans.op.push_back(OpId::none);
  spans.kind.push_back(SpanKind::inference);
  spans.start.push_back(0);
  spans.duration.push_back(ticks);
  spans.processor_cycles.push_back(cycles);
  spans.instance.push_back(inference);
}

Profile profile_of(ClockKind kind) {
  Profile profile;
  profile.clocks.push_back({profile.strings.intern("UTIMER"), kind, Hertz{19.2e6}});
  for (const std::uint32_t core : {0u, 1u}) {
    for (std::uint32_t lane = 0; lane < 2; ++lane)
      profile.units.push_back({0, core, Engine::hvx, lane});
  }
  return profile;
}

// The figures of a real summary: of each core the thread with most counts.
TEST(Clocks, AreThoseOfTheVendorsSummary) {
  Profile profile = profile_of(ClockKind::timer);
  frame(profile, UnitId{0}, 100, 444672, 28559104);
  frame(profile, UnitId{1}, 100, 400000, 10);
  frame(profile, UnitId{2}, 100, 444672, 28810390);
  frame(profile, UnitId{0}, 101, 1000, 70000);
  const auto clocks = analyse_clocks(profile);
  ASSERT_EQ(clocks.size(), 2u);
  EXPECT_EQ(clocks[0].inference, 100u);
  EXPECT_EQ(clocks[0].cores, 2u);
  EXPECT_NEAR(clocks[0].min_hertz, 1233.12e6, 0.01e6);
  EXPECT_NEAR(clocks[0].max_hertz, 1243.97e6, 0.01e6);
  EXPECT_DOUBLE_EQ(clocks[1].min_hertz, 1344e6);
  EXPECT_EQ(clocks[1].min_hertz, clocks[1].max_hertz);
}

TEST(Clocks, AreNotKnownWhereTheProfileCountsCyclesOrNone) {
  Profile cycles = profile_of(ClockKind::unit_cycles);
  frame(cycles, UnitId{0}, 0, 10, 10);
  EXPECT_TRUE(analyse_clocks(cycles).empty());
  Profile unknown = profile_of(ClockKind::timer);
  frame(unknown, UnitId{0}, 0, 10, -1);
  frame(unknown, UnitId{7}, 0, 10, 10);
  frame(unknown, UnitId{0}, 0, -10, 10);
  EXPECT_TRUE(analyse_clocks(unknown).empty());
  EXPECT_TRUE(analyse_clocks({}).empty());
}

TEST(Clocks, OfARunAreThoseOfItsWarmInferences) {
  Profile profile = profile_of(ClockKind::timer);
  frame(profile, UnitId{0}, 0, 192, 5000);  // 500 MHz: cold
  for (const std::uint32_t inference : {1u, 2u, 3u}) {
    frame(profile, UnitId{0}, inference, 192, 10000);
  }
  EXPECT_DOUBLE_EQ(*clock_during_run(profile), 1e9);
  Profile one = profile_of(ClockKind::timer);
  frame(one, UnitId{0}, 0, 192, 5000);
  EXPECT_DOUBLE_EQ(*clock_during_run(one), 500e6);
}

TEST(Clocks, OfARunAreTheFilesOwnOrItsSamples) {
  Profile sampled = profile_of(ClockKind::wall);
  EXPECT_FALSE(clock_during_run(sampled));
  CounterSeries series{.name = sampled.strings.intern("AI Core Freq"),
                       .quantity = sampled.strings.intern("MHz")};
  sampled.counters.series.push_back(series);
  series.quantity = sampled.strings.intern("bytes");
  sampled.counters.series.push_back(series);
  for (const double megahertz : {1650.0, 1650.0, 800.0}) {
    sampled.counters.of.push_back(0);
    sampled.counters.of.push_back(1);
    for (int i = 0; i < 2; ++i) {
      sampled.counters.time.push_back(0);
      sampled.counters.value.push_back(megahertz);
    }
  }
  EXPECT_DOUBLE_EQ(*clock_during_run(sampled), 1650e6);
  // Ascend's traces name the value by its unit, and a diff of two clocks said nothing.
  sampled.counters.series[0].part = sampled.counters.series[0].quantity;
  sampled.counters.series[0].quantity = StringId{};
  EXPECT_DOUBLE_EQ(*clock_during_run(sampled), 1650e6);
  sampled.add_clock("core cycles", ClockKind::unit_cycles, Hertz(1.2e9));
  EXPECT_DOUBLE_EQ(*clock_during_run(sampled), 1.2e9);
}

}  // namespace
}  // namespace npuscope::analysis::clocks_test
