// Arrows that slices carry themselves: bind_id with flow_out and flow_in.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "formats/chrome/trace_text.hpp"

namespace npuscope::chrome::bound_flows_test {
namespace {

using test_support::read_text;
using ::testing::ElementsAre;
using Arrow = std::pair<std::uint32_t, std::uint32_t>;

std::string slice(int tid, int ts, std::string_view more) {
  return fmt::format(R"({{"ph":"X","name":"a","pid":1,"tid":{},"ts":{},"dur":2{}}})", tid, ts,
                     more);
}

Profile profile_of(const std::vector<std::string>& events) {
  return make_profile(read_text(fmt::format("[{}]", fmt::join(events, ","))));
}

std::vector<Arrow> arrows(const Profile& profile) {
  std::vector<Arrow> arrows;
  for (const Flow& flow : profile.flows) {
    arrows.emplace_back(index_of(flow.from), index_of(flow.to));
  }
  return arrows;
}

TEST(BoundFlows, ArrowsOfVersionTwoWereNotRead) {
  const Profile profile = profile_of({slice(1, 0, R"(,"bind_id":"0x1","flow_out":true)"),
                                      slice(2, 5, R"(,"bind_id":"0x1","flow_in":true)")});
  EXPECT_THAT(arrows(profile), ElementsAre(Arrow{0, 1}));
  EXPECT_EQ(profile.flows[0].kind, EdgeKind::flow);
}

TEST(BoundFlows, GoOnThroughSlicesThatHaveBothAndToSeveralThatTakeThemIn) {
  const Profile profile = profile_of({slice(1, 9, R"(,"bind_id":7,"flow_in":true)"),
                                      slice(2, 5, R"(,"bind_id":7,"flow_in":true,"flow_out":true)"),
                                      slice(3, 0, R"(,"bind_id":7,"flow_out":true)"),
                                      slice(4, 12, R"(,"bind_id":7,"flow_in":true)")});
  EXPECT_THAT(arrows(profile), ElementsAre(Arrow{2, 1}, Arrow{1, 0}, Arrow{1, 3}));
}

TEST(BoundFlows, OfOtherIdsAreApartAndThoseWithoutAnEndAreCounted) {
  const Profile profile = profile_of({slice(1, 0, R"(,"bind_id":"1","flow_out":true)"),
                                      slice(2, 5, R"(,"bind_id":"2","flow_in":true)"),
                                      slice(3, 6, R"(,"bind_id":"3","flow_out":false)")});
  EXPECT_THAT(arrows(profile), ElementsAre());
  ASSERT_EQ(profile.notes.size(), 1u);
  EXPECT_EQ(profile.notes[0].count, 2u);
}

TEST(BoundFlows, OfABeginEventAreTheSlices) {
  const Profile profile = profile_of(
      {R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":0,"bind_id":"1","flow_out":true})",
       R"({"ph":"E","pid":1,"tid":1,"ts":3})", slice(2, 5, R"(,"bind_id":"1","flow_in":true)")});
  EXPECT_THAT(arrows(profile), ElementsAre(Arrow{0, 1}));
}

// Event by event in the order of time, the last that a flow went out of remembered by id.
TEST(BoundFlows, AgreeWithASlowTwin) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    struct Made {
      int ts, id;
      bool in, out;
    };
    std::vector<Made> made;
    std::vector<std::string> events;
    for (int i = 0; i < 12; ++i) {
      const Made each{i * 3, int(random() % 3), random() % 2 == 0, random() % 2 == 0};
      made.push_back(each);
      events.push_back(slice(
          int(random() % 2), each.ts,
          fmt::format(R"(,"bind_id":{},"flow_in":{},"flow_out":{})", each.id, each.in, each.out)));
    }
    std::vector<Arrow> expected;
    for (int id = 0; id < 3; ++id) {
      int from = -1;
      for (int i = 0; i < 12; ++i) {
        if (made[std::size_t(i)].id != id) continue;
        if (made[std::size_t(i)].in && from >= 0) expected.emplace_back(from, i);
        if (made[std::size_t(i)].out) from = i;
      }
    }
    EXPECT_THAT(arrows(profile_of(events)), ::testing::UnorderedElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace npuscope::chrome::bound_flows_test
