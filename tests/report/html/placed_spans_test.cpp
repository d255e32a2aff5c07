// What a page draws: all spans, or merged ones that lose nothing but their own beginnings and ends.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/timeline.hpp"
#include "report/html/columns.hpp"

namespace npuscope::report::placed_spans_test {
namespace {

using analysis::Analysis;
using test_support::ProfileBuilder;

ProfileBuilder random_profile(unsigned seed) {
  std::mt19937 random(seed);
  ProfileBuilder made;
  std::vector<UnitId> units;
  for (int i = 0; i < 3; ++i) units.push_back(made.unit("HVX " + std::to_string(i), Engine::hvx));
  units.push_back(UnitId::none);
  for (const UnitId unit : units) {
    std::int64_t time = std::int64_t(random() % 1000);
    for (int i = 0; i < 400; ++i) {
      const std::int64_t length = random() % 20 == 0 ? 5'000 : std::int64_t(random() % 30);
      const SpanKind kind = random() % 3 == 0 ? SpanKind::sync : SpanKind::op;
      made.span(unit, "op" + std::to_string(random() % 9), time, time + length, kind);
      time += length + std::int64_t(random() % 10);
    }
  }
  return made;
}

TEST(PlacedSpans, AllAreThereByUnitThenStartThenLongestFirst) {
  const ProfileBuilder made = random_profile(1);
  const Analysis analysis(made.profile);
  const PlacedSpans placed(analysis, 1'000'000);
  EXPECT_EQ(placed.merge_ticks, 0);
  EXPECT_EQ(placed.merged, 0u);
  ASSERT_EQ(placed.spans.size(), made.profile.spans.size());
  ASSERT_EQ(placed.first_of_unit.size(), made.profile.units.size() + 2);
  for (std::size_t unit = 0; unit + 1 < placed.first_of_unit.size(); ++unit) {
    for (std::size_t i = placed.first_of_unit[unit]; i < placed.first_of_unit[unit + 1]; ++i) {
      const PlacedSpan& span = placed.spans[i];
      EXPECT_EQ(placed.place_of_row[span.row], i);
      EXPECT_EQ(span.begin, made.profile.spans.start[span.row]);
      if (i == placed.first_of_unit[unit]) continue;
      const PlacedSpan& before = placed.spans[i - 1];
      EXPECT_TRUE(before.begin < span.begin ||
                  (before.begin == span.begin && before.end >= span.end));
    }
  }
}

TEST(PlacedSpans, MergedOnesHoldWhatTheyWereMadeOf) {
  for (unsigned seed = 1; seed < 20; ++seed) {
    const ProfileBuilder made = random_profile(seed);
    const Analysis analysis(made.profile);
    const Spans& spans = made.profile.spans;
    const PlacedSpans placed(analysis, 300);
    EXPECT_LE(placed.spans.size(), 300u);
    EXPECT_GT(placed.merge_ticks, 0);
    std::map<std::size_t, std::vector<std::size_t>> rows_of;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      rows_of[placed.place_of_row[row]].push_back(row);
    }
    ASSERT_EQ(rows_of.size(), placed.spans.size());
    std::uint64_t merged = 0;
    for (const auto& [place, rows] : rows_of) {
      const PlacedSpan& span = placed.spans[place];
      EXPECT_EQ(span.count, rows.size());
      merged += rows.size() > 1 ? rows.size() : 0;
      std::vector<Interval> times;
      std::int64_t begin = spans.start[rows[0]], end = begin, longest = 0;
      for (const std::size_t row : rows) {
        const Interval time{spans.start[row], spans.start[row] + spans.duration[row]};
        times.push_back(time);
        begin = std::min(begin, time.begin);
        end = std::max(end, time.end);
        longest = std::max(longest, length_of(time));
        EXPECT_EQ(analysis::role_of(spans.kind[row]), analysis::role_of(spans.kind[rows[0]]));
        EXPECT_EQ(spans.unit[row], spans.unit[rows[0]]);
      }
      EXPECT_EQ(span.begin, begin);
      EXPECT_EQ(span.end, end);
      EXPECT_EQ(span.active, length_of(union_of(times)));
      EXPECT_EQ(spans.duration[span.row], longest);
      if (rows.size() > 1) {
        EXPECT_LT(longest, placed.merge_ticks);
      }
    }
    EXPECT_EQ(placed.merged, merged);
  }
}

TEST(PlacedSpans, AnEmptyProfileHasNone) {
  const ProfileBuilder made;
  const Analysis analysis(made.profile);
  const PlacedSpans placed(analysis, 10);
  EXPECT_TRUE(placed.spans.empty());
  EXPECT_EQ(placed.merge_ticks, 0);
}

}  // namespace
}  // namespace npuscope::report::placed_spans_test
