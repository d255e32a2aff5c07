#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace npuscope::parallel_test {
namespace {

TEST(ParallelFor, CallsTheBodyOnceForEachIndex) {
  for (const std::size_t count : {0u, 1u, 2u, 7u, 1'000u, 100'000u}) {
    std::vector<std::atomic<int>> calls(count);
    parallel_for(count, [&](std::size_t i) { ++calls[i]; });
    for (const auto& call : calls) ASSERT_EQ(call, 1);
  }
}

TEST(ParallelFor, IsDoneWhenItReturns) {
  std::vector<long> squares(10'000);
  parallel_for(squares.size(), [&](std::size_t i) { squares[i] = long(i) * long(i); });
  EXPECT_EQ(std::accumulate(squares.begin(), squares.end(), 0L), 333'283'335'000L);
}

TEST(ParallelFor, Nests) {
  std::atomic<int> calls{0};
  parallel_for(20, [&](std::size_t) { parallel_for(30, [&](std::size_t) { ++calls; }); });
  EXPECT_EQ(calls, 600);
}

TEST(RangesOf, HaveEveryRowOnceAndTheLeastRowsEach) {
  for (const std::size_t rows : {0u, 1u, 99u, 100u, 199u, 200u, 12'345u}) {
    const std::vector<RowRange> ranges = ranges_of(rows, 100);
    ASSERT_FALSE(ranges.empty());
    EXPECT_EQ(ranges.front().first, 0u);
    EXPECT_EQ(ranges.back().last, rows);
    for (std::size_t i = 1; i < ranges.size(); ++i) {
      EXPECT_EQ(ranges[i].first, ranges[i - 1].last);
      EXPECT_GE(ranges[i].last - ranges[i].first, 100u);
    }
  }
}

}  // namespace
}  // namespace npuscope::parallel_test
