#include "npuscope/analysis/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace npuscope::analysis::statistics_test {
namespace {

using ::testing::DoubleNear;
using Samples = std::vector<double>;

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({7}), 7);
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 3, 2}), 2.5);
}

TEST(Percentile, LiesLinearlyBetweenSamples) {
  EXPECT_EQ(percentile_of({}, 50), 0);
  EXPECT_EQ(percentile_of({5}, 95), 5);
  EXPECT_EQ(percentile_of({4, 2, 3, 1}, 0), 1);
  EXPECT_EQ(percentile_of({4, 2, 3, 1}, 100), 4);
  EXPECT_DOUBLE_EQ(percentile_of({4, 2, 3, 1}, 95), 3.85);
  EXPECT_EQ(percentile_of({4, 2, 3, 1}, 500), 4);
}

// Over every way to choose which samples are a's.
double slow_rank_test(const Samples& a, const Samples& b) {
  Samples all(a);
  all.insert(all.end(), b.begin(), b.end());
  const auto rank_sum_less_mean = [&](const std::vector<bool>& is_a) {
    double wins = 0;  // U: pairs in which a's is larger, ties half
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (!is_a[i] || is_a[j]) continue;
        wins += all[i] > all[j] ? 1 : all[i] == all[j] ? 0.5 : 0;
      }
    }
    return std::abs(wins - double(a.size() * b.size()) / 2);
  };
  std::vector<bool> is_a(all.size(), false);
  std::fill(is_a.begin(), is_a.begin() + std::ptrdiff_t(a.size()), true);
  const double seen = rank_sum_less_mean(is_a);
  double as_far = 0, ways = 0;
  std::sort(is_a.begin(), is_a.end());
  do {
    ways += 1;
    as_far += rank_sum_less_mean(is_a) >= seen - 1e-9;
  } while (std::next_permutation(is_a.begin(), is_a.end()));
  return as_far / ways;
}

Samples random_samples(std::mt19937_64& random, std::size_t count, std::uint64_t values) {
  Samples samples;
  for (std::size_t i = 0; i < count; ++i) samples.push_back(double(1 + random() % values));
  return samples;
}

TEST(RankTest, EqualsAllPermutations) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    const std::uint64_t values = i % 3 == 0 ? 3 : 1'000;  // many ties, few
    const Samples a = random_samples(random, 1 + random() % 5, values);
    const Samples b = random_samples(random, 1 + random() % 5, values);
    ASSERT_THAT(rank_test(a, b).value(), DoubleNear(slow_rank_test(a, b), 1e-12));
  }
}

// From textbooks: U = 0 of 4 and 4 without ties is 2 of 70 ways; R's wilcox.test agrees.
TEST(RankTest, KnownValues) {
  EXPECT_DOUBLE_EQ(rank_test({1, 2, 3, 4}, {5, 6, 7, 8}).value(), 2.0 / 70);
  EXPECT_EQ(rank_test({1, 1, 1}, {1, 1, 1}).value(), 1);
  EXPECT_FALSE(rank_test({}, {1}).has_value());
}

TEST(RankTest, ASampleThatIsNoNumberWasRankedForever) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(rank_test({1, nan}, {2, 3}).has_value());
  EXPECT_FALSE(rank_test({1, 2}, {nan}).has_value());
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rank_test({1, infinite}, {2, infinite}), rank_test({1, 9}, {2, 9}));
}

// Of more samples than can be divided in all ways, against 20,000 random ways to divide them.
TEST(RankTest, TheApproximationIsNearRandomPermutations) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20; ++i) {
    const Samples a = random_samples(random, 16, i % 2 ? 10 : 100'000);
    const Samples b = random_samples(random, 18, i % 2 ? 10 : 100'000);
    Samples all(a);
    all.insert(all.end(), b.begin(), b.end());
    const auto distance = [&] {
      double wins = 0;
      for (std::size_t x = 0; x < a.size(); ++x) {
        for (std::size_t y = a.size(); y < all.size(); ++y) {
          wins += all[x] > all[y] ? 1 : all[x] == all[y] ? 0.5 : 0;
        }
      }
      return std::abs(wins - double(a.size() * b.size()) / 2);
    };
    const double seen = distance();
    constexpr int ways = 20'000;
    int as_far = 0;
    for (int way = 0; way < ways; ++way) {
      std::shuffle(all.begin(), all.end(), random);
      as_far += distance() >= seen - 1e-9;
    }
    EXPECT_NEAR(rank_test(a, b).value(), double(as_far) / ways, 0.02);
  }
}

TEST(RankTest, ManyEqualSamplesSayNothing) {
  EXPECT_EQ(rank_test(Samples(40, 7.0), Samples(40, 7.0)).value(), 1);
}

TEST(LeastP, IsThatOfSamplesThatDoNotMix) {
  for (std::size_t n = 1; n < 6; ++n) {
    Samples a, b;
    for (std::size_t i = 0; i < n; ++i) {
      a.push_back(double(i));
      b.push_back(double(100 + i));
    }
    EXPECT_DOUBLE_EQ(min_p(n, n), std::min(1.0, rank_test(a, b).value())) << n;
  }
  EXPECT_GT(min_p(3, 3), 0.05);
  EXPECT_LT(min_p(4, 4), 0.05);
  EXPECT_LT(min_p(1'000'000, 1'000'000), 1e-6);
}

TEST(Contrast, NeedsTwoSamplesASide) {
  EXPECT_FALSE(contrast_of({1}, {2, 3}).absolute);
  EXPECT_FALSE(contrast_of({1, 2}, {3}).relative);
  EXPECT_FALSE(contrast_of({0, 2}, {3, 4}).relative);  // no share of zero
  EXPECT_TRUE(contrast_of({0, 2}, {3, 4}).absolute);
}

TEST(Contrast, OfConstantsIsExact) {
  const Contrast contrast = contrast_of({100, 100, 100}, {103, 103});
  EXPECT_EQ(contrast.absolute, (Range{3, 3}));
  EXPECT_NEAR(contrast.relative->low, 0.03, 1e-12);
  EXPECT_NEAR(contrast.relative->high, 0.03, 1e-12);
}

TEST(Contrast, DoesNotDependOnTheOrderAndMirrors) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    Samples a = random_samples(random, 2 + random() % 700, 1'000);
    Samples b = random_samples(random, 2 + random() % 9, 1'000);
    const Contrast there = contrast_of(a, b);
    std::shuffle(a.begin(), a.end(), random);
    std::shuffle(b.begin(), b.end(), random);
    const Contrast again = contrast_of(a, b), back = contrast_of(b, a);
    ASSERT_EQ(there.absolute, again.absolute);
    ASSERT_EQ(there.relative, again.relative);
    ASSERT_EQ(there.absolute->low, -back.absolute->high);
    ASSERT_EQ(there.absolute->high, -back.absolute->low);
    ASSERT_NEAR((1 + there.relative->low) * (1 + back.relative->high), 1, 1e-12);
  }
}

TEST(Contrast, HoldsTheDifferenceOfTheMediansItself) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 2'000; ++i) {
    const Samples a = random_samples(random, 2 + random() % 6, 50);
    const Samples b = random_samples(random, 2 + random() % 6, 50);
    const Contrast contrast = contrast_of(a, b);
    ASSERT_LE(contrast.absolute->low, median_of(b) - median_of(a));
    ASSERT_GE(contrast.absolute->high, median_of(b) - median_of(a));
    ASSERT_LE(contrast.relative->low, median_of(b) / median_of(a) - 1);
    ASSERT_GE(contrast.relative->high, median_of(b) / median_of(a) - 1);
  }
}

TEST(TellsApart, WhatMixesIsNot) {
  EXPECT_TRUE(is_significant(0.1, 3, 3));  // no overlap
  EXPECT_FALSE(is_significant(0.2, 3, 3));
  EXPECT_TRUE(is_significant(0.049, 4, 5));
  EXPECT_FALSE(is_significant(0.06, 4, 5));
}

// 95 % of the intervals of samples from one source hold zero, more or less.
double share_that_hold_zero(std::size_t count) {
  std::mt19937_64 random(4);
  int hold = 0;
  constexpr int tries = 400;
  for (int i = 0; i < tries; ++i) {
    const Samples a = random_samples(random, count, 1'000'000);
    const Samples b = random_samples(random, count, 1'000'000);
    const Range range = *contrast_of(a, b).absolute;
    hold += range.low <= 0 && range.high >= 0;
  }
  return double(hold) / tries;
}

TEST(Contrast, CoversWhatItSays) {
  EXPECT_GT(share_that_hold_zero(10), 0.9);
  EXPECT_GT(share_that_hold_zero(30), 0.92);
  EXPECT_LT(share_that_hold_zero(30), 0.995);
}

// Beyond 500 samples the places of the medians are drawn from their limit.
TEST(Contrast, OfManySamplesContinuesThatOfFew) {
  std::mt19937_64 random(5);
  const Samples a = random_samples(random, 500, 1'000'000);
  Samples more = a;
  more.push_back(median_of(a));
  const Range few = *percentile_interval(a), many = *percentile_interval(more);
  EXPECT_NEAR(few.low, many.low, 0.2 * (few.high - few.low));
  EXPECT_NEAR(few.high, many.high, 0.2 * (few.high - few.low));
}

TEST(Contrast, HoldsZeroWhereItsIntervalDoes) {
  std::mt19937_64 random(17);
  int holds = 0, differs = 0;
  for (int round = 0; round < 400; ++round) {
    const Samples a = random_samples(random, 1 + random() % 40, 30);
    Samples b = random_samples(random, 1 + random() % 40, 30);
    for (double& sample : b) sample += double(round % 12);
    const auto range = contrast_of(a, b).absolute;
    const bool expected = range && range->low <= 0 && range->high >= 0;
    ASSERT_EQ(contrast_holds_zero(a, b), expected) << round;
    ASSERT_EQ(contrast_holds_zero(b, a), expected) << round;
    (expected ? holds : differs) += 1;
  }
  EXPECT_GT(holds, 50);
  EXPECT_GT(differs, 50);
}

}  // namespace
}  // namespace npuscope::analysis::statistics_test
