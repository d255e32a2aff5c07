#include "fleet/questions/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace npuscope::fleet::fleet_statistics_test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

// The procedure as it is published: the largest k with p(k) <= k/m * rate; all up to it are
// discoveries.
std::vector<bool> discoveries(const std::vector<double>& p, double rate) {
  std::vector<double> sorted = p;
  std::sort(sorted.begin(), sorted.end());
  double largest = -1;
  for (std::size_t k = 1; k <= sorted.size(); ++k) {
    if (sorted[k - 1] * double(p.size()) / double(k) <= rate) largest = sorted[k - 1];
  }
  std::vector<bool> found;
  for (const double each : p) found.push_back(each <= largest);
  return found;
}

TEST(FleetStatistics, QValuesDecideAsTheProcedureDoes) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> p(1 + random() % 40);
    for (double& each : p) {
      each = double(random() % 1'000) / 1'000;
      if (random() % 3 == 0) each /= 100;
    }
    const std::vector<double> q = q_values(p);
    for (const double rate : {0.01, 0.05, 0.2}) {
      const std::vector<bool> expected = discoveries(p, rate);
      for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(q[i] <= rate, expected[i]);
    }
  }
  EXPECT_TRUE(q_values({}).empty());
}

// The example of Benjamini and Hochberg 1995: 15 tests, the first four are discoveries at 5 %.
TEST(FleetStatistics, QValuesFindTheDiscoveriesOfThePaper) {
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<double> q = q_values(p);
  EXPECT_EQ(std::count_if(q.begin(), q.end(), [](double each) { return each <= 0.05; }), 4);
}

// Pettitt's statistic by its definition: the sum of signs of all pairs across the point.
std::optional<ChangePoint> slow_change_point(const std::vector<double>& x,
                                             const std::vector<std::size_t>& places) {
  std::optional<ChangePoint> found;
  double largest = -1;
  const auto n = double(x.size());
  for (std::size_t t = 1; t < x.size(); ++t) {
    if (!places.empty() && places[t] == places[t - 1]) continue;
    double sum = 0;
    for (std::size_t i = 0; i < t; ++i) {
      for (std::size_t j = t; j < x.size(); ++j) sum += (x[i] > x[j]) - (x[i] < x[j]);
    }
    if (std::abs(sum) <= largest) continue;
    largest = std::abs(sum);
    found = ChangePoint{t, std::min(1.0, 2 * std::exp(-6 * sum * sum / (n * n * n + n * n)))};
  }
  return found;
}

TEST(FleetStatistics, ChangePointIsThatOfASlowTwin) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> x(1 + random() % 40);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = double(random() % 12) + (i > x.size() / 2 ? double(random() % 6) : 0);
      places.push_back(i / (1 + round % 4));
    }
    if (round % 5 == 0) places.clear();
    const auto fast = change_point(x, places), slow = slow_change_point(x, places);
    ASSERT_EQ(fast.has_value(), slow.has_value());
    if (!fast) continue;
    EXPECT_EQ(fast->at, slow->at);
    EXPECT_NEAR(fast->p, slow->p, 1e-9);
  }
}

// How often chance is called a change: not more than p says, in 2,000 series without one.
TEST(FleetStatistics, ChangePointsOfNoiseAreAsRareAsTheirP) {
  std::mt19937_64 random(3);
  int below = 0;
  constexpr int rounds = 2'000;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> x(60);
    for (double& each : x) each = double(random() % 1'000'000);
    below += change_point(x)->p <= 0.05;
  }
  EXPECT_LE(below, int(0.06 * rounds));
  EXPECT_GT(below, int(0.02 * rounds));
}

TEST(FleetStatistics, RobustDistancesAreThoseOfNormalDeviations) {
  EXPECT_THAT(*robust_distances({10, 11, 9, 12, 8}),
              ElementsAre(DoubleEq(0), DoubleEq(1 / 1.4826), DoubleEq(-1 / 1.4826),
                          DoubleEq(2 / 1.4826), DoubleEq(-2 / 1.4826)));
  EXPECT_EQ(robust_distances({3, 3, 3}), std::nullopt);
  EXPECT_EQ(robust_distances({}), std::nullopt);
  const auto mostly_equal = robust_distances({3, 3, 3, 3, 13});
  ASSERT_TRUE(mostly_equal);
  EXPECT_DOUBLE_EQ(mostly_equal->back(), 10 / (1.2533 * 2));
}

TEST(FleetStatistics, TheShareThatGroupsExplainIsThatOfTheTextbooksH) {
  EXPECT_NEAR(explained_share({1, 2, 8, 9}, {0, 0, 1, 1}), 0.7, 1e-12);  // H = 2.4
  std::mt19937_64 random(11);
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = 6 + random() % 30, k = 2 + random() % 3;
    std::vector<double> ranks(n);
    for (std::size_t i = 0; i < n; ++i) ranks[i] = double(i + 1);
    std::shuffle(ranks.begin(), ranks.end(), random);
    std::vector<double> sums(k), counts(k), samples;
    std::vector<std::size_t> groups;
    for (std::size_t i = 0; i < n; ++i) {
      groups.push_back(i < k ? i : random() % k);
      samples.push_back(std::exp(ranks[i]));
      sums[groups[i]] += ranks[i];
      counts[groups[i]] += 1;
    }
    double h = -3 * double(n + 1);
    for (std::size_t g = 0; g < k; ++g) {
      h += 12.0 / double(n * (n + 1)) * sums[g] * sums[g] / counts[g];
    }
    EXPECT_NEAR(explained_share(samples, groups), (h - double(k) + 1) / double(n - k), 1e-9);
  }
}

TEST(FleetStatistics, GroupsThatCannotExplainAnythingDoNot) {
  EXPECT_EQ(explained_share({}, {}), 0);
  EXPECT_EQ(explained_share({1, 2, 3}, {0, 0, 0}), 0);
  EXPECT_EQ(explained_share({1, 2, 3}, {0, 1, 2}), 0);
  EXPECT_EQ(explained_share({5, 5, 5, 5}, {0, 0, 1, 1}), 0);
  EXPECT_EQ(explained_share({1, 1, 2, 2, 2}, {0, 0, 4, 4, 4}), 1);
}

}  // namespace
}  // namespace npuscope::fleet::fleet_statistics_test
