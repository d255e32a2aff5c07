// Lanes of so many slices that parts of them are looked at side by side; against slow twins.
#include "formats/chrome/profile/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace npuscope::chrome::lanes_test {
namespace {

constexpr std::size_t threads = 5, count = 300'000;

// Mostly one after another on each thread, some within the one before, some across its end. The
// last thread has none.
Slices random_slices(std::mt19937& random, bool all_nest) {
  Slices slices;
  std::vector<std::int64_t> now(threads, 0);
  std::vector<std::vector<std::int64_t>> open(threads);  // where they end, the innermost last
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t thread = random() % (threads - 1);
    const std::int64_t start = now[thread] + std::int64_t(random() % 3);
    std::erase_if(open[thread], [&](std::int64_t end) { return end <= start; });
    std::int64_t end = start + 1 + std::int64_t(random() % 9);
    if (!open[thread].empty() && (all_nest || random() % 64 > 0)) {
      end = std::min(end, open[thread].back());
    }
    slices.thread.push_back(thread);
    slices.start.push_back(start);
    slices.duration.push_back(end - start);
    open[thread].push_back(end);
    now[thread] = random() % 4 > 0 ? end : start + 1;
  }
  return slices;
}

std::vector<std::uint32_t> order_by_sorting(const Slices& slices) {
  std::vector<std::uint32_t> order(slices.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    return std::tuple(slices.thread[i], slices.start[i], -slices.duration[i]);
  });
  return order;
}

bool is_in_order(const Slices& slices) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> of_threads;
  for (const std::uint32_t i : order_by_sorting(slices)) of_threads[slices.thread[i]].push_back(i);
  return std::ranges::all_of(of_threads,
                             [](const auto& each) { return std::ranges::is_sorted(each.second); });
}

// Each slice goes to the first lane of its thread in which it crosses no end that is open.
void expect_lanes(const Slices& slices, const std::vector<std::uint32_t>& order) {
  std::vector<std::vector<std::vector<std::int64_t>>> open(threads);
  std::vector<std::uint16_t> expected(slices.size());
  std::uint64_t moved = 0;
  for (std::size_t place = 0; place < slices.size(); ++place) {
    const std::size_t i = order.empty() ? place : order[place];
    const std::int64_t start = slices.start[i], end = start + slices.duration[i];
    auto& lanes = open[slices.thread[i]];
    std::size_t lane = 0;
    for (; lane < lanes.size(); ++lane) {
      std::erase_if(lanes[lane], [&](std::int64_t each) { return each <= start; });
      if (std::ranges::all_of(lanes[lane], [&](std::int64_t each) { return end <= each; })) break;
    }
    if (lane == lanes.size()) lanes.emplace_back();
    lanes[lane].push_back(end);
    expected[i] = std::uint16_t(lane);
    moved += lane > 0;
  }
  const Lanes found = assign_lanes(slices, threads, order);
  ASSERT_EQ(found.moved, moved);
  ASSERT_EQ(found.lane, moved > 0 ? expected : std::vector<std::uint16_t>());
  for (std::size_t thread = 0; thread < threads; ++thread) {
    ASSERT_EQ(found.lane_count[thread], open[thread].size());
  }
}

TEST(Lanes, OfManySlicesAreThoseOfTheObviousWay) {
  std::mt19937 random(1);
  for (const bool all_nest : {true, false}) {
    const Slices slices = random_slices(random, all_nest);
    ASSERT_TRUE(is_in_order(slices));
    ASSERT_TRUE(nesting_order(slices, threads).empty());
    expect_lanes(slices, {});
    ASSERT_EQ(assign_lanes(slices, threads, {}).moved == 0, all_nest);
  }
}

TEST(Lanes, OneSliceOutOfOrderAmongManyIsFoundWhereverItIs) {
  std::mt19937 random(2);
  const Slices slices = random_slices(random, false);
  // Within a part, at the ends of parts and at both ends of all.
  for (const std::size_t at :
       {std::size_t{1}, count / 4 - 1, count / 4, count / 2, count / 2 + 1, count / 3, count - 1}) {
    Slices moved = slices;
    for (auto* times : {&moved.start, &moved.duration}) {
      std::swap((*times)[at], (*times)[at > count / 2 ? 0 : count - 1]);
    }
    const std::vector<std::uint32_t> order = nesting_order(moved, threads);
    ASSERT_EQ(order.empty(), is_in_order(moved)) << at;
    if (order.empty()) continue;
    ASSERT_EQ(order, order_by_sorting(moved)) << at;
    expect_lanes(moved, order);
  }
}

}  // namespace
}  // namespace npuscope::chrome::lanes_test
