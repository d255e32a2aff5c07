#include "npuscope/profile/spans_by_unit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "profile/rows_by_unit.hpp"

namespace npuscope::spans_by_unit_test {
namespace {

Profile profile_of(std::size_t rows, std::uint32_t units, std::int64_t latest, unsigned seed) {
  Profile profile;
  profile.units.resize(units);
  std::mt19937 random(seed);
  for (std::size_t row = 0; row < rows; ++row) {
    const bool without = random() % 10 == 0;
    profile.spans.unit.push_back(without ? UnitId::none : UnitId(random() % (units + 1)));
    profile.spans.op.push_back(OpId::none);
    profile.spans.kind.push_back(SpanKind(random() % 11));
    profile.spans.start.push_back(std::int64_t(random() % std::uint64_t(latest)));
    profile.spans.duration.push_back(std::int64_t(random() % 5) - 1);
  }
  return profile;
}

// As the header says it: by start, the longer first, then as in the profile.
std::vector<std::uint32_t> slow_rows_of(const Profile& profile, std::size_t unit) {
  const Spans& spans = profile.spans;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < spans.size(); ++row) {
    const std::size_t of = std::min<std::size_t>(index_of(spans.unit[row]), profile.units.size());
    if (of == unit) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return spans.start[a] != spans.start[b] ? spans.start[a] < spans.start[b]
                                            : spans.duration[a] > spans.duration[b];
  });
  return rows;
}

void expect_in_order(const Profile& profile) {
  const SpansByUnit by_unit(profile);
  const RowsByUnit rows_by_unit(profile);
  ASSERT_EQ(by_unit.groups(), profile.units.size() + 1);
  ASSERT_EQ(by_unit.all().size(), profile.spans.size());
  for (std::size_t unit = 0; unit <= profile.units.size(); ++unit) {
    const UnitId id = unit < profile.units.size() ? UnitId(std::uint32_t(unit)) : UnitId::none;
    const std::vector<std::uint32_t> rows = slow_rows_of(profile, unit);
    ASSERT_TRUE(std::ranges::equal(rows_by_unit.of(id), rows)) << unit;
    ASSERT_EQ(by_unit.spans_of(id).size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SpanOfUnit span = by_unit.spans_of(id)[i];
      ASSERT_EQ(by_unit.spans_of(id).row(i), rows[i]);
      ASSERT_EQ(span.row, rows[i]);
      ASSERT_EQ(span.kind, profile.spans.kind[rows[i]]);
      ASSERT_EQ(span.interval(), interval_of(profile.spans, rows[i]));
      ASSERT_EQ(span.op, profile.spans.op[rows[i]]);
      ASSERT_EQ(span.instance, every_instance);
      ASSERT_EQ(by_unit.all()[by_unit.place_of(unit) + i].row, rows[i]);
    }
  }
}

TEST(SpansByUnit, AreInTheOrderOfASlowTwin) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    expect_in_order(profile_of(seed % 60, seed % 5, 1 + seed % 40, seed));
  }
}

TEST(SpansByUnit, AreTheSameWhereSeveralThreadsGatherThem) {
  expect_in_order(profile_of(300'000, 7, 1'000'000, 1));
}

TEST(SpansByUnit, OfSomeRowsAreThoseOfAllThatAreAmongThem) {
  Profile profile = profile_of(1'000, 5, 40, 3);
  std::vector<std::uint32_t> some;
  for (std::uint32_t row = 0; row < profile.spans.size(); ++row) {
    profile.spans.instance.push_back(row / 7);
    if (row % 3 != 0) some.push_back(row);
  }
  const SpansByUnit all(profile), by_unit(profile, some);
  EXPECT_EQ(by_unit.all().size(), some.size());
  for (std::uint32_t unit = 0; unit <= profile.units.size(); ++unit) {
    std::vector<std::uint32_t> expected;
    for (const SpanOfUnit& span : all.spans_of(UnitId{unit})) {
      if (span.row % 3 != 0) expected.push_back(span.row);
    }
    std::vector<std::uint32_t> rows;
    for (const SpanOfUnit& span : by_unit.spans_of(UnitId{unit})) {
      rows.push_back(span.row);
      EXPECT_EQ(span.instance, span.row / 7);
    }
    EXPECT_EQ(rows, expected);
  }
}

TEST(SpansByUnit, OfAProfileWithoutSpansAreNone) {
  const SpansByUnit by_unit(Profile{});
  EXPECT_TRUE(by_unit.spans_of(UnitId::none).empty());
  EXPECT_TRUE(by_unit.spans_of(UnitId{3}).empty());
}

TEST(SpansByUnit, OfARoleAreThoseOfAllThatHaveIt) {
  const Profile profile = profile_of(1'000, 5, 40, 4);
  const SpansByUnit all(profile), waits = all.of(Role::wait);
  ASSERT_EQ(waits.groups(), all.groups());
  for (std::uint32_t unit = 0; unit <= profile.units.size(); ++unit) {
    std::vector<std::uint32_t> expected, rows;
    for (const SpanOfUnit& span : all.spans_of(UnitId{unit})) {
      if (role_of(span.kind) == Role::wait) expected.push_back(span.row);
    }
    for (const SpanOfUnit& span : waits.spans_of(UnitId{unit})) rows.push_back(span.row);
    EXPECT_EQ(rows, expected);
    EXPECT_FALSE(rows.empty());
  }
}

TEST(SpansByUnit, WhatDoesNotFitIsLookedUp) {
  constexpr std::int64_t lengths[] = {0, 4'294'967'294, 4'294'967'295, 4'294'967'296, 1LL << 60};
  constexpr std::uint32_t instances[] = {16'777'214, 16'777'215, 16'777'216, every_instance, 0};
  Profile profile = profile_of(std::size(lengths), 1, 1, 0);
  for (std::size_t row = 0; row < std::size(lengths); ++row) {
    profile.spans.unit[row] = UnitId{0};
    profile.spans.start[row] = -5 + std::int64_t(row);
    profile.spans.duration[row] = lengths[row];
    profile.spans.instance.push_back(instances[row]);
  }
  const SpansByUnit by_unit(profile);
  for (const SpanOfUnit& span : by_unit.spans_of(UnitId{0})) {
    EXPECT_EQ(span.interval(), interval_of(profile.spans, span.row));
    EXPECT_EQ(span.instance, instances[span.row]);
  }
}

TEST(SpansByUnit, EndsSaturate) {
  Profile profile = profile_of(1, 1, 1, 0);
  profile.spans.start[0] = std::numeric_limits<std::int64_t>::max() - 3;
  profile.spans.duration[0] = 10;
  profile.spans.unit[0] = UnitId{0};
  const SpansByUnit by_unit(profile);
  EXPECT_EQ(by_unit.spans_of(UnitId{0})[0].end, std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace npuscope::spans_by_unit_test
