#include "npuscope/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace npuscope {
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

}  // namespace
}  // namespace npuscope
