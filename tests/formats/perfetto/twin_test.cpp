// The reader against a slow and obvious twin: all events of the trace decoded one by one without
// the reader's code, sorted by time, and paired with a stack for each track.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "formats/perfetto/profile_text.hpp"
#include "formats/perfetto/slow_twin.hpp"
#include "formats/perfetto/write/write_tracks.hpp"

namespace npuscope::perfetto::twin_test {
namespace {

using test::Choices;

test::Paired pair_by_reader(std::string_view trace) { return test::pairs_of(test::read(trace)); }

TEST(PerfettoTwin, PairsEventsInOrder) {
  Choices choices(1u);
  for (int round = 0; round < 500; ++round) {
    const std::string trace = test::random_trace(choices, 0);
    ASSERT_EQ(pair_by_reader(trace), test::pair_slowly(trace)) << "round " << round;
  }
}

TEST(PerfettoTwin, PairsEndsWithNames) {
  Choices choices(7u);
  for (int round = 0; round < 3000; ++round) {
    const std::string trace = test::random_trace_with_names(choices);
    ASSERT_EQ(pair_by_reader(trace).slices, test::pair_names_slowly(trace)) << "round " << round;
  }
}

TEST(PerfettoTwin, PairsEventsThatComeLate) {
  Choices choices(2u);
  for (int round = 0; round < 5000; ++round) {
    const std::string trace = test::random_trace(choices, 1 + choices.below(50));
    ASSERT_EQ(pair_by_reader(trace), test::pair_slowly(trace)) << "round " << round;
  }
}

TEST(PerfettoLanes, NestOnEveryLaneAndFillTheFirstFirst) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::pair<std::int64_t, std::int64_t>> slices;
    for (std::uint32_t i = random() % 30; i > 0; --i) {
      const auto start = std::int64_t(random() % 40);
      slices.emplace_back(start, start + std::int64_t(random() % 20));
    }
    std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.first, -a.second) < std::tuple(b.first, -b.second);
    });
    LaneAssigner lanes;
    std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> on_lane;
    const auto fits = [&](std::uint32_t lane, const auto& slice) {
      return std::all_of(on_lane[lane].begin(), on_lane[lane].end(), [&](const auto& other) {
        const bool apart = other.second <= slice.first;
        const bool within = slice.second <= other.second;
        return apart || within;
      });
    };
    for (const auto& slice : slices) {
      const std::uint32_t lane = lanes.place(slice.first, slice.second);
      ASSERT_TRUE(fits(lane, slice));
      for (std::uint32_t lower = 0; lower < lane; ++lower) {
        if (lower == 0 || lane == on_lane.size()) {
          ASSERT_FALSE(fits(lower, slice));
        }
      }
      on_lane[lane].push_back(slice);
    }
  }
}

}  // namespace
}  // namespace npuscope::perfetto::twin_test
