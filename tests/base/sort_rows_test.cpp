#include "base/sort_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace npuscope::sort_rows_test {
namespace {

struct Row {
  std::string name;
  int work = 0;
  bool operator==(const Row&) const = default;
};

std::vector<Row> random_rows(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Row> rows(count);
  for (std::size_t i = 0; i < count; ++i) rows[i] = {"row " + std::to_string(i), int(random() % 7)};
  return rows;
}

TEST(SortRows, IsTheStableSortOfTheStandardLibrary) {
  const auto more = [](const Row& a, const Row& b) { return a.work > b.work; };
  for (std::size_t count = 0; count < 60; ++count) {
    std::vector<Row> rows = random_rows(count, std::uint32_t(count)), expected = rows;
    sort_rows(rows.begin(), rows.end(), more);
    std::stable_sort(expected.begin(), expected.end(), more);
    EXPECT_EQ(rows, expected) << count;
  }
}

TEST(SortRows, SortsAPartOfThem) {
  std::vector<int> rows{9, 3, 2, 1, 0};
  sort_rows(rows.begin() + 1, rows.end() - 1, std::less<>());
  EXPECT_EQ(rows, (std::vector{9, 1, 2, 3, 0}));
}

TEST(SortRows, TakesAKeyAsRangesDo) {
  std::vector<Row> rows = random_rows(50, 1), expected = rows;
  sort_rows(rows, std::ranges::greater{}, &Row::work);
  std::ranges::stable_sort(expected, std::ranges::greater{}, &Row::work);
  EXPECT_EQ(rows, expected);
  sort_rows(rows, {}, &Row::name);
  std::ranges::stable_sort(expected, {}, &Row::name);
  EXPECT_EQ(rows, expected);
}

}  // namespace
}  // namespace npuscope::sort_rows_test
