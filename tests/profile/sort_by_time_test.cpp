#include "profile/sort_by_time.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>

namespace npuscope::sort_by_time_test {
namespace {

TEST(SortByTime, KeepsTheOrderOfEqualTimesInRowsOfAnyNumberAndSpread) {
  std::mt19937_64 random(8);
  using Row = std::pair<std::int64_t, std::uint32_t>;
  for (const std::size_t count : {2u, 127u, 128u, 700u, 4'095u, 4'096u, 20'000u}) {
    for (const std::uint64_t spread : {3ull, 200ull, 100'000ull, ~0ull}) {
      std::vector<Row> rows;
      for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t offset = spread == ~0ull ? random() : random() % spread;
        rows.push_back({std::int64_t(offset) - 50, i});
      }
      rows.front().first = std::numeric_limits<std::int64_t>::max() - std::int64_t(spread / 2);
      std::vector<Row> expected = rows;
      const auto time_of = [](const Row& row) { return row.first; };
      std::stable_sort(expected.begin(), expected.end(),
                       [](const Row& a, const Row& b) { return a.first < b.first; });
      sort_by_time(rows, time_of);
      EXPECT_EQ(rows, expected) << count << " rows over " << spread;
    }
  }
}

}  // namespace
}  // namespace npuscope::sort_by_time_test
