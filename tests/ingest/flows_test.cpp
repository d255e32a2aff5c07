#include "ingest/flows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

namespace npuscope::flows_test {
namespace {

using Role = FlowPoint::Role;
using Binding = FlowPoint::Binding;
using ::testing::ElementsAre;

std::vector<std::string> arrows(const JoinedFlows& joined) {
  std::vector<std::string> texts;
  for (const Flow& flow : joined.flows) {
    texts.push_back(fmt::format("{}-{}", index_of(flow.from), index_of(flow.to)));
  }
  return texts;
}

FlowPoint at_row(std::int64_t time, Role role, std::uint32_t row, std::uint32_t key = 0) {
  return {.time = time, .key = key, .at = row, .role = role};
}

TEST(JoinedFlows, LeadOnInTheOrderOfTimeAndToAllThatArrive) {
  const JoinedFlows joined = join_flows({at_row(9, Role::arrives, 3), at_row(5, Role::steps, 2),
                                         at_row(1, Role::begins, 1), at_row(9, Role::arrives, 4)});
  EXPECT_THAT(arrows(joined), ElementsAre("1-2", "2-3", "2-4"));
  EXPECT_THAT(joined.keys, ElementsAre(0, 0, 0));
  EXPECT_EQ(joined.unpaired, 0u);
}

TEST(JoinedFlows, CountWhatHasNoOtherEndAndDrawNoArrowAcrossAPlaceWithoutASlice) {
  const JoinedFlows joined =
      join_flows({at_row(1, Role::begins, 1, 0), at_row(2, Role::begins, 2, 0),
                  at_row(3, Role::arrives, 3, 1), at_row(4, Role::begins, 4, 2),
                  at_row(5, Role::steps, no_row, 2), at_row(6, Role::arrives, 6, 2)});
  EXPECT_THAT(arrows(joined), ElementsAre());
  EXPECT_EQ(joined.unpaired, 3u);  // both that begin, and what arrives out of nothing
  EXPECT_EQ(joined.unbound, 1u);
}

TEST(JoinedFlows, WithoutADirectionGoOnUntilOneEndsThem) {
  const JoinedFlows joined = join_flows({at_row(1, Role::meets, 1), at_row(2, Role::meets, 2),
                                         at_row(3, Role::ends, 3), at_row(4, Role::meets, 4)});
  EXPECT_THAT(arrows(joined), ElementsAre("1-2", "2-3"));
  EXPECT_EQ(joined.unpaired, 0u);
}

// Bound by place on random slices that nest; found again by looking at all of them.
TEST(JoinedFlows, BindAsASlowTwinDoes) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> start, duration;
    for (std::int64_t outer = 0; outer < 4; ++outer) {
      start.insert(start.end(), {outer * 10, outer * 10 + std::int64_t(random() % 5)});
      duration.insert(duration.end(), {8, std::int64_t(random() % 4)});
    }
    RowsByTrack rows(1);
    for (std::uint32_t row = 0; row < start.size(); ++row) rows[0].push_back(row);
    const auto from = std::int64_t(random() % 40), to = std::int64_t(random() % 40);
    const auto around = [&](std::int64_t time) {
      std::uint32_t inside = no_row, ended = no_row;
      for (std::uint32_t row = 0; row < start.size(); ++row) {
        const std::int64_t end = start[row] + duration[row];
        if (start[row] <= time && (end > time || start[row] == time)) inside = row;
        if (start[row] < time && end == time) ended = row;
      }
      return inside != no_row ? inside : ended;
    };
    const auto next = [&](std::int64_t time) {
      for (std::uint32_t row = 0; row < start.size(); ++row) {
        if (start[row] >= time) return row;
      }
      return no_row;
    };
    const std::uint32_t first = around(std::min(from, to)), last = next(std::max(from, to));
    const JoinedFlows joined = join_flows(
        {{.time = std::min(from, to), .at = 0, .role = Role::begins, .binding = Binding::enclosing},
         {.time = std::max(from, to), .at = 0, .role = Role::arrives, .binding = Binding::next}},
        {start, duration}, rows);
    std::vector<std::string> expected;
    if (first != no_row && last != no_row) expected.push_back(fmt::format("{}-{}", first, last));
    EXPECT_EQ(arrows(joined), expected) << "round " << round;
    EXPECT_EQ(joined.unbound, (first == no_row ? 1u : 0u) + (last == no_row ? 1u : 0u));
  }
}

}  // namespace
}  // namespace npuscope::flows_test
