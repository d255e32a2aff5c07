#include "base/counting_sort.hpp"

#include <gtest/gtest.h>

#include <random>

namespace npuscope::counting_sort_test {
namespace {

TEST(CountingSort, IsAStableSortByGroup) {
  std::mt19937 random(7);
  for (const std::size_t items : {0u, 1u, 10u, 1'000u, 300'000u}) {
    for (const std::uint32_t groups : {1u, 3u, 5'000u}) {
      std::vector<std::uint32_t> group_of(items);
      for (std::uint32_t& group : group_of) {
        group = random() % 5 == 0 ? counting_sort_leaves_out : std::uint32_t(random() % groups);
      }
      std::vector<std::uint32_t> expected;
      for (std::uint32_t item = 0; item < items; ++item) {
        if (group_of[item] != counting_sort_leaves_out) expected.push_back(item);
      }
      std::stable_sort(expected.begin(), expected.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return group_of[a] < group_of[b]; });

      CountingSort sort(items, groups, [&](std::size_t item) { return group_of[item]; });
      ASSERT_EQ(sort.size(), expected.size());
      std::vector<std::uint32_t> sorted{1, 2, 3};
      sort.place_items(sorted);
      EXPECT_EQ(sorted, expected);
      ASSERT_EQ(sort.first().size(), groups + 1u);
      EXPECT_EQ(sort.first().back(), expected.size());
      for (std::uint32_t group = 0; group < groups; ++group) {
        for (std::uint32_t i = sort.first()[group]; i < sort.first()[group + 1]; ++i) {
          ASSERT_EQ(group_of[sorted[i]], group);
        }
      }
    }
  }
}

}  // namespace
}  // namespace npuscope::counting_sort_test
