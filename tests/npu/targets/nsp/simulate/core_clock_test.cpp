#include "npu/targets/nsp/simulate/events.hpp"

#include <gtest/gtest.h>

namespace npuscope::npu::nsp::core_clock_test {
namespace {

constexpr Picoseconds nanoseconds(std::int64_t value) { return Picoseconds{value * 1000}; }

TEST(CoreClock, AFixedClockHasOneEndlessWindow) {
  const CoreClock clock(2e9, 2e9, nanoseconds(1000));
  EXPECT_EQ(clock.window_end(), never);
  EXPECT_DOUBLE_EQ(clock.cycles_at(nanoseconds(5'000'000)), 1e7);
}

TEST(CoreClock, TheNextWindowsFrequencyFollowsFromTheHmxTimeOfThisOne) {
  CoreClock clock(1e9, 0.6e9, nanoseconds(1000));
  clock.add_hmx_time(nanoseconds(0), nanoseconds(250));
  EXPECT_TRUE(clock.next_window());
  EXPECT_DOUBLE_EQ(clock.hertz(), 0.9e9);
  EXPECT_TRUE(clock.next_window());  // idle
  EXPECT_DOUBLE_EQ(clock.hertz(), 1e9);
  EXPECT_FALSE(clock.next_window());
}

TEST(CoreClock, HmxTimeAtLessPowerCountsForLess) {
  CoreClock clock(1e9, 0.6e9, nanoseconds(1000));
  clock.add_hmx_time(nanoseconds(0), nanoseconds(250));
  clock.add_hmx_time(nanoseconds(500), nanoseconds(1000), 0.5);
  clock.next_window();
  EXPECT_DOUBLE_EQ(clock.hertz(), 0.8e9);
}

TEST(CoreClock, HmxTimeOutsideTheWindowDoesNotCount) {
  CoreClock clock(1e9, 0.5e9, nanoseconds(1000));
  clock.next_window();
  clock.add_hmx_time(nanoseconds(0), nanoseconds(1500));  // the first 1000 ns were counted before
  clock.next_window();
  EXPECT_DOUBLE_EQ(clock.hertz(), 0.75e9);
}

TEST(CoreClock, TheCycleCounterIsTheIntegralOfTheFrequency) {
  CoreClock clock(1e9, 0.5e9, nanoseconds(1000));
  clock.add_hmx_time(nanoseconds(0), nanoseconds(1000));
  clock.next_window();
  EXPECT_DOUBLE_EQ(clock.cycles_at(nanoseconds(1000)), 1000);
  EXPECT_DOUBLE_EQ(clock.cycles_at(nanoseconds(1600)), 1300);
  EXPECT_DOUBLE_EQ(clock.cycles_at(nanoseconds(400)), 400);  // still known
}

TEST(CoreClock, AKernelGoesOnInTheNextWindowAtItsFrequency) {
  CoreClock clock(1e9, 0.5e9, nanoseconds(1000));
  double remaining = 1500;
  Picoseconds position = nanoseconds(0);
  EXPECT_FALSE(clock.run(remaining, position));
  EXPECT_DOUBLE_EQ(remaining, 500);
  EXPECT_EQ(position, nanoseconds(1000));
  clock.add_hmx_time(nanoseconds(0), nanoseconds(1000));
  clock.next_window();
  EXPECT_TRUE(clock.run(remaining, position));
  EXPECT_EQ(position, nanoseconds(2000));
}

TEST(CoreClock, AKernelThatBeganInAnEarlierWindowRunsAtThatWindowsFrequencyFirst) {
  CoreClock clock(1e9, 0.5e9, nanoseconds(1000));
  clock.add_hmx_time(nanoseconds(0), nanoseconds(1000));
  clock.next_window();
  double remaining = 400;
  Picoseconds position = nanoseconds(800);
  EXPECT_TRUE(clock.run(remaining, position));  // 200 cycles before the window's end, 200 after
  EXPECT_EQ(position, nanoseconds(1400));
}

TEST(CoreClock, ALongerWindowStandsForSeveralAlikeOnes) {
  CoreClock one(1e9, 0.5e9, nanoseconds(1000));
  one.extend_window(9);
  EXPECT_EQ(one.window_end(), nanoseconds(10'000));
  one.next_window();
  EXPECT_DOUBLE_EQ(one.hertz(), 1e9);
  EXPECT_EQ(one.window_end(), nanoseconds(11'000));
  EXPECT_DOUBLE_EQ(one.cycles_at(nanoseconds(10'500)), 10'500);
}

}  // namespace
}  // namespace npuscope::npu::nsp::core_clock_test
