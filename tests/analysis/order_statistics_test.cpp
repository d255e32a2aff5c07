#include "analysis/order_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace npuscope::analysis::order_statistics_test {
namespace {

void expect_as_sorted(const std::vector<double>& values, const std::string& what) {
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t last = values.size() - 1;
  for (const std::size_t k : {std::size_t{0}, last / 4, last / 2, (last + 1) / 2, last}) {
    std::vector<double> left = values;
    const Neighbours found = smallest_at(left, k);
    EXPECT_EQ(found.at, sorted[k]) << what << ", place " << k;
    EXPECT_EQ(found.next, sorted[std::min(k + 1, last)]) << what << ", after place " << k;
  }
}

TEST(SmallestAt, IsThatOfTheSortedValues) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 400; ++round) {
    const std::size_t count = 1 + random() % 700;
    std::vector<double> even, few, outliers, huge;
    for (std::size_t i = 0; i < count; ++i) {
      even.push_back(double(random() % 2'000) - 500);
      few.push_back(double(random() % 3));
      outliers.push_back(random() % 50 == 0 ? 1e12 * double(random() % 9) : double(random() % 99));
      huge.push_back(double(std::int64_t(random())) * 1e280);
    }
    expect_as_sorted(even, "even");
    expect_as_sorted(few, "few");
    expect_as_sorted(outliers, "outliers");
    expect_as_sorted(huge, "huge");
  }
}

TEST(SmallestAt, OfEqualValuesAndOfTwoFarApartIsOneOfThem) {
  expect_as_sorted(std::vector<double>(300, 7.5), "equal");
  std::vector<double> two(300, 0);
  std::fill(two.begin() + 150, two.end(), 1e300);
  expect_as_sorted(two, "two");
  two.assign(300, -std::numeric_limits<double>::max());
  two.back() = std::numeric_limits<double>::max();
  expect_as_sorted(two, "largest");
  two.assign(300, 0);
  two.back() = std::numeric_limits<double>::denorm_min();
  expect_as_sorted(two, "smallest");
}

TEST(SmallestAt, OfValuesThatAreNotFiniteReadsNothingElse) {
  std::vector<double> odd(100, std::numeric_limits<double>::infinity());
  odd[7] = -std::numeric_limits<double>::infinity();
  odd[9] = 3;
  expect_as_sorted(odd, "infinite");
}

}  // namespace
}  // namespace npuscope::analysis::order_statistics_test
