#include "profile/self_times.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace npuscope::self_times_test {
namespace {

using testing::ElementsAre;
using Limits = std::numeric_limits<std::int64_t>;

std::vector<std::int64_t> own_of(std::initializer_list<Interval> intervals,
                                 std::int64_t tolerance) {
  std::vector<SpanOfUnit> spans;
  for (const Interval& interval : intervals) {
    SpanOfUnit& span = spans.emplace_back();
    span.begin = interval.begin;
    span.end = interval.end;
    span.kind = SpanKind::op;
  }
  std::vector<std::int64_t> own;
  find_self_times(spans, tolerance, own);
  return own;
}

TEST(SelfTimes, WhatLiesInsideIsTakenFromTheInnermost) {
  EXPECT_THAT(own_of({{0, 100}, {10, 90}, {20, 30}}, 0), ElementsAre(20, 70, 10));
}

TEST(SelfTimes, OneThatEndsAResolutionLaterIsInside) {
  EXPECT_THAT(own_of({{0, 100}, {40, 101}}, 1), ElementsAre(40, 61));
  EXPECT_THAT(own_of({{0, 100}, {40, 102}}, 1), ElementsAre(100, 62));
  // Beside each other: what both share is no more than the resolution.
  EXPECT_THAT(own_of({{0, 100}, {99, 100}, {99, 101}}, 1), ElementsAre(99, 1, 2));
}

TEST(SelfTimes, TimesThatLieTheWholeRangeApartAreComparedWithoutOverflow) {
  EXPECT_THAT(own_of({{Limits::min(), -1}, {-3, Limits::max()}}, 1),
              ElementsAre(Limits::max(), Limits::max()));
  EXPECT_THAT(own_of({{Limits::min(), Limits::max()}, {0, Limits::max()}}, 1),
              ElementsAre(0, Limits::max()));
}

}  // namespace
}  // namespace npuscope::self_times_test
