#include "analysis/inference_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::span_extents_test {
namespace {

using npuscope::test_support::ProfileBuilder;

void extend(bool& any, Interval& interval, Interval by) {
  interval =
      any ? Interval{std::min(interval.begin, by.begin), std::max(interval.end, by.end)} : by;
  any = true;
}

// Looks at each row by itself.
SpanExtents slowly(const Spans& spans) {
  std::map<std::uint32_t, InferenceExtent> inferences;
  SpanExtents extents;
  Interval ran, overlay;
  bool any_ran = false, any_overlay = false;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const SpanKind kind = spans.kind[row];
    const Interval interval = interval_of(spans, row);
    const std::uint32_t number = spans.instance.empty() ? 0 : spans.instance[row];
    InferenceExtent first;
    first.number = number;
    first.first_row = row;
    InferenceExtent& extent = inferences.try_emplace(number, first).first->second;
    extent.rows_end = row + 1;
    if (role_of(kind) == Role::work) extend(extent.works, extent.work, interval);
    if (role_of(kind) == Role::overlay) extend(any_overlay, overlay, interval);
    if (role_of(kind) == Role::overlay || kind == SpanKind::activation) continue;
    extend(extent.runs, extent.wall, interval);
    extend(any_ran, ran, interval);
  }
  extents.timeline = any_ran ? ran : overlay;
  for (const auto& [number, extent] : inferences) {
    extents.works = extents.works || extent.works;
    if (!spans.instance.empty()) extents.inferences.push_back(extent);
  }
  return extents;
}

// What a wall or work is where there is none is nobody's concern.
InferenceExtent told(InferenceExtent extent) {
  if (!extent.runs) extent.wall = {};
  if (!extent.works) extent.work = {};
  return extent;
}

void expect_as_slowly(const Profile& profile) {
  const SpanExtents found = extents_of(profile), expected = slowly(profile.spans);
  EXPECT_EQ(found.timeline, expected.timeline);
  EXPECT_EQ(found.works, expected.works);
  ASSERT_EQ(found.inferences.size(), expected.inferences.size());
  for (std::size_t i = 0; i < found.inferences.size(); ++i) {
    ASSERT_EQ(told(found.inferences[i]), told(expected.inferences[i])) << i;
  }
}

Profile random_profile(std::uint32_t seed, std::size_t rows, std::initializer_list<SpanKind> kinds,
                       std::uint32_t inferences) {
  std::mt19937 random(seed);
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  Spans& spans = made.profile.spans;
  for (std::size_t row = 0; row < rows; ++row) {
    spans.unit.push_back(unit);
    spans.op.push_back(OpId::none);
    spans.kind.push_back(kinds.begin()[random() % kinds.size()]);
    spans.start.push_back(std::int64_t(random() % 100'000));
    spans.duration.push_back(std::int64_t(random() % 50) - 5);
    if (inferences == 0) continue;
    spans.instance.push_back(random() % 9 == 0 ? every_instance : random() % inferences);
  }
  return std::move(made.profile);
}

// Neighbours of other inferences in nearly every row, and so many rows that several threads look.
TEST(SpanExtents, OfInferencesWhoseSpansMixAreThoseOfLookingAtEach) {
  expect_as_slowly(
      random_profile(2, 150'000, {SpanKind::async, SpanKind::op, SpanKind::sync}, 6'000));
}

TEST(SpanExtents, OfKindsThatAreNoWorkOrOverlays) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::size_t rows = 1 + seed % 7;
    const std::uint32_t inferences = seed % 4;
    expect_as_slowly(
        random_profile(seed, rows, {SpanKind::async, SpanKind::activation}, inferences));
    expect_as_slowly(random_profile(
        seed, rows, {SpanKind::activation, SpanKind::inference, SpanKind::sync, SpanKind::op},
        inferences));
  }
}

TEST(SpanExtents, OfNoSpansAreNone) {
  const SpanExtents extents = extents_of(Profile{});
  EXPECT_EQ(extents.timeline, Interval{});
  EXPECT_FALSE(extents.works);
  EXPECT_TRUE(extents.inferences.empty());
}

}  // namespace
}  // namespace npuscope::analysis::span_extents_test
