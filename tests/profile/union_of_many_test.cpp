// The union of many sets, window by window, against that of all their intervals in one heap.
#include "profile/interval_sets.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace npuscope {
namespace {

// Intervals apart from each other, some long ones among short ones.
IntervalSet random_set(std::mt19937& random, std::size_t intervals, std::int64_t begin) {
  IntervalSet set;
  for (std::size_t i = 0; i < intervals; ++i) {
    begin += 1 + std::int64_t(random() % 40);
    const std::int64_t length =
        1 + std::int64_t(random() % 1'000 == 0 ? random() % 100'000 : random() % 20);
    set.push_back({begin, begin + length});
    begin += length;
  }
  return set;
}

void expect_union(const std::vector<IntervalSet>& sets) {
  std::vector<Interval> heap;
  std::vector<const IntervalSet*> all;
  for (const IntervalSet& set : sets) {
    heap.insert(heap.end(), set.begin(), set.end());
    all.push_back(&set);
  }
  EXPECT_EQ(union_of_many(std::move(all)), union_of(std::move(heap)));
}

TEST(UnionOfMany, IsThatOfAllIntervals) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<IntervalSet> sets(random() % 9);
    for (IntervalSet& set : sets) {
      set = random_set(random, random() % 50, std::int64_t(random() % 500));
    }
    expect_union(sets);
  }
}

TEST(UnionOfMany, IsTheSameAcrossWindows) {
  std::mt19937 random(2);
  for (const std::size_t count : {2, 3, 5, 8}) {
    std::vector<IntervalSet> sets(count);
    for (IntervalSet& set : sets) set = random_set(random, 10'000 + random() % 20'000, 0);
    expect_union(sets);
  }
}

// Windows are as long as each other: one may have most intervals, others none.
TEST(UnionOfMany, IsTheSameOfSetsThatLieElsewhere) {
  std::mt19937 random(3);
  expect_union({random_set(random, 40'000, 0),
                random_set(random, 30'000, -900'000),
                random_set(random, 30'000, 1'000'000),
                {{-5, 2'000'000}}});
}

// One that lasts as long as there is time: all others lie in one window or two.
TEST(UnionOfMany, IsTheSameUpToTheEndsOfTime) {
  std::mt19937 random(4);
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  const IntervalSet short_ones = random_set(random, 50'000, 0);
  expect_union({short_ones, random_set(random, 30'000, 7), {{smallest, largest}}});
  expect_union({short_ones, {{smallest, smallest + 1}, {largest - 1, largest}}});
}

TEST(UnionOfMany, OfTwoIsTheSameOfFewAndOfMany) {
  std::mt19937 random(5);
  for (const std::size_t intervals : {0, 1, 40, 2'048, 2'049, 30'000}) {
    const IntervalSet a = random_set(random, intervals, 0), b = random_set(random, intervals, 3);
    EXPECT_EQ(union_of(a, b), union_of_many({&a, &b})) << intervals;
    EXPECT_EQ(union_of(a, {}), a) << intervals;
  }
}

TEST(UnionOfMany, OfNoneOrOneIsNoneOrThatOne) {
  const IntervalSet none, one = {{1, 2}, {4, 9}};
  EXPECT_EQ(union_of_many({}), IntervalSet());
  EXPECT_EQ(union_of_many({&none, &none}), IntervalSet());
  EXPECT_EQ(union_of_many({&none, &one}), one);
  EXPECT_EQ(&SeenUnion({&none, &one}).all(), &one);
  EXPECT_EQ(SeenUnion({&none}).all(), none);
}

}  // namespace
}  // namespace npuscope
