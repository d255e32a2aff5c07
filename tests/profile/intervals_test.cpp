#include "npuscope/profile/intervals.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>

namespace npuscope::intervals_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Of intervals that need not be apart from one another.
Concurrency concurrency_of_all(const std::vector<Interval>& intervals) {
  std::vector<IntervalSet> sets;
  for (const Interval& interval : intervals) sets.push_back(union_of({interval}));
  std::vector<const IntervalSet*> all;
  for (const IntervalSet& set : sets) all.push_back(&set);
  return concurrency_of(all);
}

constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
constexpr auto largest = std::numeric_limits<std::int64_t>::max();

TEST(Intervals, OneThatEndsWhereTheNextBeginsTouchesItButDoesNotOverlap) {
  EXPECT_THAT(union_of({{5, 9}, {0, 5}}), ElementsAre(Interval{0, 9}));
  EXPECT_THAT(intersection_of({{0, 5}}, {{5, 9}}), IsEmpty());
  EXPECT_THAT(concurrency_of_all({{0, 5}, {5, 9}}).time_at, ElementsAre(0, 9));
}

TEST(Intervals, EmptyAndReversedOnesCountAsNothing) {
  EXPECT_THAT(union_of({{3, 3}, {9, 2}, {4, 5}}), ElementsAre(Interval{4, 5}));
  EXPECT_EQ(length_of(Interval{9, 2}), 0);
  EXPECT_THAT(concurrency_of_all({{3, 3}}).time_at, IsEmpty());
}

TEST(Intervals, NestedOnesAreNotCountedTwice) {
  EXPECT_EQ(length_of(union_of({{0, 10}, {2, 3}, {2, 8}})), 10);
}

TEST(Intervals, GapsIncludeBothEndsOfTheWindow) {
  EXPECT_THAT(gaps_in({{2, 4}, {6, 8}}, {0, 10}),
              ElementsAre(Interval{0, 2}, Interval{4, 6}, Interval{8, 10}));
  EXPECT_THAT(gaps_in({{2, 4}}, {3, 4}), IsEmpty());
  EXPECT_THAT(gaps_in({}, {3, 5}), ElementsAre(Interval{3, 5}));
}

TEST(Intervals, LengthsSaturateInsteadOfWrapping) {
  EXPECT_EQ(length_of(Interval{smallest, largest}), largest);
  EXPECT_EQ(length_of(union_of({{smallest, 0}, {1, largest}})), largest);
  EXPECT_EQ(saturating_add(largest, 1), largest);
  EXPECT_EQ(saturating_add(smallest, -1), smallest);
  EXPECT_EQ(saturating_subtract(smallest, 1), smallest);
  EXPECT_EQ(saturating_subtract(0, smallest), largest);
  EXPECT_THAT(concurrency_of_all({{smallest, largest}}).time_at, ElementsAre(0, largest));
}

// The obvious way: a flag for every moment of a short time.
constexpr std::int64_t moments = 40;

std::vector<int> running_at(const std::vector<Interval>& intervals) {
  std::vector<int> running(moments, 0);
  for (const Interval& interval : intervals) {
    for (std::int64_t t = interval.begin; t < interval.end; ++t) running[std::size_t(t)] += 1;
  }
  return running;
}

template <class Holds>
IntervalSet set_where(Holds holds) {
  IntervalSet set;
  for (std::int64_t t = 0; t < moments; ++t) {
    if (!holds(std::size_t(t))) continue;
    if (!set.empty() && set.back().end == t) {
      set.back().end = t + 1;
    } else {
      set.push_back({t, t + 1});
    }
  }
  return set;
}

TEST(Intervals, AgreeWithCountingEveryMoment) {
  std::mt19937 random(7);
  const auto draw = [&](std::size_t max) {
    std::vector<Interval> intervals(random() % max);
    for (Interval& interval : intervals) {
      interval.begin = random() % moments;
      interval.end = std::min<std::int64_t>(moments, interval.begin + random() % 9);
    }
    return intervals;
  };
  for (int round = 0; round < 2'000; ++round) {
    const auto first = draw(9), second = draw(9);
    const auto a = running_at(first), b = running_at(second);
    const IntervalSet set_a = union_of(first), set_b = union_of(second);
    ASSERT_EQ(set_a, set_where([&](std::size_t t) { return a[t] > 0; }));
    ASSERT_EQ(union_of(set_a, set_b), set_where([&](std::size_t t) { return a[t] || b[t]; }));
    ASSERT_EQ(intersection_of(set_a, set_b),
              set_where([&](std::size_t t) { return a[t] && b[t]; }));
    ASSERT_EQ(difference_of(set_a, set_b), set_where([&](std::size_t t) { return a[t] && !b[t]; }));
    ASSERT_EQ(gaps_in(set_a, {3, 30}),
              set_where([&](std::size_t t) { return t >= 3 && t < 30 && !a[t]; }));

    std::vector<std::int64_t> time_at;
    if (!set_a.empty()) {
      for (auto t = set_a.front().begin; t < set_a.back().end; ++t) {
        const auto running = std::size_t(a[std::size_t(t)]);
        if (time_at.size() <= running) time_at.resize(running + 1, 0);
        time_at[running] += 1;
      }
    }
    ASSERT_EQ(concurrency_of_all(first).time_at, time_at);
  }
}

// Enough of them to be sorted by digits, over spreads of few and of all 64 bits.
TEST(Intervals, ManyAtOnceAgreeWithSortedEvents) {
  std::mt19937_64 random(5);
  for (const int bits : {0, 3, 11, 12, 33, 62, 64}) {
    std::vector<Interval> intervals(9'000);
    std::vector<std::pair<std::int64_t, int>> events;  // ends before begins at equal times
    for (Interval& interval : intervals) {
      const auto draw = [&] { return std::int64_t(bits == 0 ? 0 : random() >> (64 - bits)) - 40; };
      interval = {draw(), draw()};
      if (interval.begin > interval.end) std::swap(interval.begin, interval.end);
      if (interval.begin == interval.end) continue;
      events.push_back({interval.begin, 1});
      events.push_back({interval.end, -1});
    }
    std::sort(events.begin(), events.end());
    std::vector<std::int64_t> time_at;
    std::int64_t running = 0;
    for (std::size_t i = 0; i + 1 < events.size(); ++i) {
      running += events[i].second;
      if (time_at.size() <= std::size_t(running)) time_at.resize(std::size_t(running) + 1, 0);
      auto& time = time_at[std::size_t(running)];
      time = saturating_add(time, saturating_subtract(events[i + 1].first, events[i].first));
    }
    const auto found = concurrency_of_all(intervals).time_at;
    for (std::size_t k = 0; k < std::max(found.size(), time_at.size()); ++k) {
      ASSERT_EQ(k < found.size() ? found[k] : 0, k < time_at.size() ? time_at[k] : 0) << bits;
    }
  }
}

// Of more intervals than fit into one window, which cuts some of them.
TEST(Intervals, ConcurrencyOfManyIsThatOfEachMoment) {
  std::mt19937 random(6);
  constexpr std::size_t length = 200'000;
  std::vector<IntervalSet> sets(3);
  std::vector<std::uint8_t> running(length, 0);
  for (IntervalSet& set : sets) {
    for (std::int64_t now = random() % 5; now < std::int64_t(length) - 9;) {
      const Interval next{now, now + 1 + std::int64_t(random() % 6)};
      for (std::int64_t t = next.begin; t < next.end; ++t) running[std::size_t(t)] += 1;
      set.push_back(next);
      now = next.end + 1 + std::int64_t(random() % 4);
    }
  }
  const auto first = std::ranges::find_if(running, [](int count) { return count > 0; });
  const auto last =
      std::find_if(running.rbegin(), running.rend(), [](int count) { return count > 0; });
  std::vector<std::int64_t> time_at(4, 0);
  for (auto at = first; at != last.base(); ++at) time_at[*at] += 1;
  EXPECT_EQ(concurrency_of(std::vector<const IntervalSet*>{&sets[0], &sets[1], &sets[2]}).time_at,
            time_at);
}

// As units give them: one after another, each in the order of time; and in no order at all.
TEST(Intervals, UnionOfManyInRunsIsThatOfTheSortedOnes) {
  std::mt19937_64 random(11);
  for (const std::size_t runs : {1, 2, 3, 8, 97, 6'000}) {
    for (const int bits : {4, 12, 20, 63}) {
      std::vector<Interval> intervals;
      for (std::size_t run = 0; run < runs; ++run) {
        const std::size_t first = intervals.size();
        for (std::size_t i = 0; i < 6'000 / runs; ++i) {
          const auto begin = std::int64_t(random() >> (64 - bits)) - 1'000;
          intervals.push_back({begin, saturating_add(begin, std::int64_t(random() % 300) - 5)});
        }
        std::sort(intervals.begin() + std::ptrdiff_t(first), intervals.end(),
                  [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
      }
      std::vector<Interval> sorted = intervals;
      std::sort(sorted.begin(), sorted.end(),
                [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
      IntervalSet expected;
      for (const Interval& next : sorted) {
        if (next.begin >= next.end) continue;
        if (!expected.empty() && next.begin <= expected.back().end) {
          expected.back().end = std::max(expected.back().end, next.end);
        } else {
          expected.push_back(next);
        }
      }
      ASSERT_EQ(union_of(intervals), expected) << runs << " runs of " << bits << " bits";
    }
  }
}

TEST(Intervals, CoveredLengthIsThatOfTheUnion) {
  std::mt19937_64 random(3);
  for (const std::size_t count : {1, 2, 64, 65, 255, 256, 257, 5'000, 40'000}) {
    for (const int bits : {0, 3, 9, 20, 40, 63, 64}) {
      // From single moments to most of all time, so that slices of it are covered whole or not.
      for (const int bits_of_length : {0, 4, 12, 34, 64}) {
        std::vector<Interval> intervals(count);
        for (Interval& interval : intervals) {
          const auto draw = [&](int of) {
            return std::int64_t(of == 0 ? 0 : random() >> (64 - of));
          };
          interval.begin = draw(bits) - (random() % 50 == 0 ? 1'000'000 : 40);
          interval.end = saturating_add(interval.begin, draw(bits_of_length) - 3);
        }
        ASSERT_EQ(covered_length(intervals), length_of(union_of(intervals)))
            << count << " of " << bits << " bits, lengths of " << bits_of_length;
        std::ranges::sort(intervals, {}, &Interval::begin);
        ASSERT_EQ(covered_length(intervals), length_of(union_of(intervals)));
        for (std::size_t i = 0; i < count; i += 1 + random() % 5) {  // nearly sorted
          std::swap(intervals[i], intervals[std::min(count - 1, i + random() % 9)]);
        }
        ASSERT_EQ(covered_length(intervals), length_of(union_of(intervals)));
        const std::ptrdiff_t half = std::ptrdiff_t(count / 2);
        std::rotate(intervals.begin(), intervals.begin() + half, intervals.end());
        ASSERT_EQ(covered_length(intervals), length_of(union_of(intervals)));
      }
    }
  }
  EXPECT_EQ(covered_length({}), 0);
  EXPECT_EQ(covered_length(std::vector<Interval>(1'000, Interval{5, 5})), 0);
}

}  // namespace
}  // namespace npuscope::intervals_test
