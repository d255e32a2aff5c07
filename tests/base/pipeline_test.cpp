#include "base/pipeline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace npuscope::pipeline_test {
namespace {

struct Numbers {
  explicit Numbers(int count) : all(std::size_t(count)) { std::iota(all.begin(), all.end(), 0); }
  std::vector<int> all;
  std::size_t begun = 0;

  int* next() { return begun == all.size() ? nullptr : &all[begun++]; }
};

TEST(Pipeline, EndsItemsInTheOrderInWhichTheyWereBegun) {
  Numbers numbers(1'000);
  std::vector<int> ended;
  run_pipeline<int*>(
      4, [&] { return numbers.next(); },
      [&](int* item) {
        if (*item % 7 == 0) std::this_thread::yield();  // is overtaken by others
        *item *= 2;
      },
      [&](int* item) { ended.push_back(*item); });
  ASSERT_EQ(ended.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(ended[std::size_t(i)], 2 * i);
}

TEST(Pipeline, HasNoMoreUnderWayThanItMay) {
  constexpr int under_way = 3;
  std::vector<std::atomic<int>> slots(under_way);  // which item has it; 0: none
  std::atomic<int> collisions = 0;
  Numbers numbers(500);
  run_pipeline<int*>(
      under_way, [&] { return numbers.next(); },
      [&](int* item) {
        std::atomic<int>& slot = slots[std::size_t(*item % under_way)];
        if (slot.exchange(*item + 1) != 0) collisions += 1;
      },
      [&](int* item) { slots[std::size_t(*item % under_way)] = 0; });
  EXPECT_EQ(collisions, 0);
}

TEST(Pipeline, WithoutItemsEndsNothing) {
  run_pipeline<int*>(
      2, [] { return static_cast<int*>(nullptr); }, [](int*) { FAIL(); }, [](int*) { FAIL(); });
}

TEST(Pipeline, WhatIsThrownReachesTheCaller) {
  for (const int where : {0, 1, 2}) {
    Numbers numbers(100);
    const auto at = [&](int place) {
      if (place == where) throw std::runtime_error("full");
    };
    EXPECT_THROW(run_pipeline<int*>(
                     3,
                     [&] {
                       if (numbers.begun == 40) at(0);
                       return numbers.next();
                     },
                     [&](int* item) {
                       if (*item == 40) at(1);
                     },
                     [&](int* item) {
                       if (*item == 40) at(2);
                     }),
                 std::runtime_error)
        << where;
  }
}

}  // namespace
}  // namespace npuscope::pipeline_test
