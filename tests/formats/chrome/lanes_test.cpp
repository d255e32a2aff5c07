// Which lanes slices go to; and of so many that parts of them are looked at side by side.
#include "formats/chrome/profile/lanes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "npuscope/profile/intervals.hpp"

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

// Within a lane, two slices nest, lie apart, or the later begins in the last eighth of both.
void expect_lanes(const Slices& slices, const std::vector<std::uint32_t>& order) {
  const Lanes found = assign_lanes(slices, threads, order, 0);
  std::vector<std::map<std::uint16_t, std::vector<Interval>>> open(threads);
  std::uint64_t moved = 0, early = 0;
  std::vector<std::uint32_t> count_of(threads, 0);
  for (const std::uint32_t i : order_by_sorting(slices)) {
    const Interval slice{slices.start[i], slices.start[i] + slices.duration[i]};
    const std::uint16_t lane = found.lane.empty() ? 0 : found.lane[i];
    std::vector<Interval>& of_lane = open[slices.thread[i]][lane];
    std::erase_if(of_lane, [&](Interval each) { return each.end <= slice.begin; });
    const auto crossed = std::ranges::find_if(
        of_lane, [&](const Interval& each) { return each.end < slice.end; });  // the outermost
    if (crossed != of_lane.end()) {
      ASSERT_LE(8 * (crossed->end - slice.begin), std::min(length_of(*crossed), length_of(slice)));
    }
    early += std::erase_if(of_lane, [&](Interval each) { return each.end < slice.end; }) > 0;
    of_lane.push_back(slice);
    moved += lane > 0;
    count_of[slices.thread[i]] = std::max(count_of[slices.thread[i]], lane + 1u);
  }
  ASSERT_EQ(found.moved, moved);
  ASSERT_GE(found.early, early);  // of two, one may go beside after that
  ASSERT_EQ(found.lane_count, count_of);
}

// Lanes of slices of one thread, "0" each, in the order given.
std::string lanes_of(const std::vector<Interval>& intervals, std::int64_t resolution = 1) {
  Slices slices;
  for (const Interval& each : intervals) {
    slices.thread.push_back(0);
    slices.start.push_back(each.begin);
    slices.duration.push_back(each.end - each.begin);
  }
  const auto order = nesting_order(slices, 1);
  const Lanes found = assign_lanes(slices, 1, order, resolution);
  std::string text;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    text += std::to_string(found.lane.empty() ? 0 : found.lane[i]);
  }
  return text;
}

TEST(Lanes, AStepThatBeginsShortlyBeforeAShortSliceEndsEnclosesWhatRunsInIt) {
  EXPECT_EQ(lanes_of({{0, 27}, {26, 926}, {40, 920}}), "000");
  EXPECT_EQ(lanes_of({{0, 5'000}, {0, 27}, {26, 926}, {40, 920}, {4'000, 5'000}}), "00000");
}

TEST(Lanes, OfTwoThatOverlapTheShortEarlierOneGoesBesideWithWhatIsInsideIt) {
  EXPECT_EQ(lanes_of({{0, 100}, {0, 20}, {5, 15}, {8, 90}, {30, 60}}), "01100");
  // The step of the next lap finds that lane idle again, a lap in the midst of the first does not.
  EXPECT_EQ(lanes_of({{0, 20}, {8, 90}, {100, 120}, {108, 190}}), "1010");
  EXPECT_EQ(lanes_of({{0, 20}, {8, 30}, {16, 60}}), "120");
}

TEST(Lanes, WhatRunsInASliceThatWentBesideFollowsIt) {
  EXPECT_EQ(lanes_of({{0, 100}, {60, 140}, {70, 130}, {80, 90}}), "0111");
}

TEST(Lanes, AChildThatOutlastsItsParentByTheResolutionStaysInside) {
  EXPECT_EQ(lanes_of({{10, 510}, {20, 511}, {30, 40}}, 1), "000");
  EXPECT_EQ(lanes_of({{10, 510}, {60, 512}}, 1), "01");
  EXPECT_EQ(lanes_of({{10'000, 510'000}, {200'000, 511'000}}, 1'000), "00");
}

TEST(Lanes, OfManySlicesLetThoseOfEachLaneNest) {
  std::mt19937 random(1);
  for (const bool all_nest : {true, false}) {
    const Slices slices = random_slices(random, all_nest);
    ASSERT_TRUE(is_in_order(slices));
    ASSERT_TRUE(nesting_order(slices, threads).empty());
    expect_lanes(slices, {});
    ASSERT_EQ(assign_lanes(slices, threads, {}, 0).moved == 0, all_nest);
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
