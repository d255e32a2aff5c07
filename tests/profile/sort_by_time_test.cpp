#include "profile/sort_by_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

namespace npuscope::sort_by_time_test {
namespace {

TEST(SortByTime, KeepsTheOrderOfEqualTimesInRowsOfAnyNumberAndSpread) {
  std::mt19937_64 random(8);
  using Row = std::pair<std::int64_t, std::uint32_t>;
  for (const std::size_t count : {2u, 127u, 128u, 700u, 4'095u, 4'096u, 20'000u, 100'000u}) {
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

// As spans that a profile has unit by unit, or many units by turns.
TEST(SortByTime, SortsVeryManyRowsThatAreNearlyInOrder) {
  std::mt19937_64 random(9);
  using Row = std::pair<std::int64_t, std::uint32_t>;
  for (const std::size_t units : {1u, 7u, 96u}) {
    for (const bool by_turns : {false, true}) {
      std::vector<std::int64_t> free_at(units, -1'000'000);
      std::vector<Row> rows;
      for (std::uint32_t i = 0; i < 200'000; ++i) {
        std::int64_t& begin = free_at[by_turns ? random() % units : i * units / 200'000];
        rows.push_back({begin, i});
        begin += std::int64_t(random() % 300) * std::int64_t(i % 4'000 == 0 ? 10'000 : 1);
      }
      std::vector<Row> expected = rows;
      std::sort(expected.begin(), expected.end());
      sort_by_time(rows, [](const Row& row) { return row.first; });
      EXPECT_EQ(rows, expected) << units << by_turns;
    }
  }
}

}  // namespace
}  // namespace npuscope::sort_by_time_test
