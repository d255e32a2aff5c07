#include "npuscope/base/units.hpp"

#include <gtest/gtest.h>

#include <concepts>

namespace npuscope::units_test {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
template <class A, class B>
concept Comparable = requires(A a, B b) { a < b; };

TEST(Units, AddSubtractAndScaleWithinAUnit) {
  EXPECT_EQ(Ticks{30711} + Ticks{9}, Ticks{30720});
  EXPECT_EQ(Cycles{5} - Cycles{7}, Cycles{-2});
  EXPECT_EQ(Bytes{64} * 3, Bytes{192});
  Ticks sum{1};
  sum += Ticks{4};
  sum -= Ticks{2};
  EXPECT_EQ(sum, Ticks{3});
}

TEST(Units, DoNotMix) {
  static_assert(Addable<Ticks, Ticks>);
  static_assert(!Addable<Ticks, Cycles>);
  static_assert(!Addable<Nanoseconds, Picoseconds>);
  static_assert(!Comparable<Bytes, Cycles>);
  static_assert(!std::convertible_to<std::int64_t, Ticks>);
  static_assert(!std::convertible_to<Ticks, std::int64_t>);
}

TEST(Units, OrderByValue) {
  EXPECT_LT(Cycles{1}, Cycles{2});
  EXPECT_GT(Hertz{2e9}, Hertz{19.2e6});
}

TEST(Units, TicksBecomeTimeAtTheTimersRate) {
  EXPECT_DOUBLE_EQ(to_microseconds(Ticks{30711}, aic_utimer), 1599.53125);
  EXPECT_DOUBLE_EQ(to_seconds(Ticks{19'200'000}, aic_utimer), 1.0);
}

}  // namespace
}  // namespace npuscope::units_test
