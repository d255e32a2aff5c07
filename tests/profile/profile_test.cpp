#include "npuscope/profile/profile.hpp"

#include <gtest/gtest.h>

namespace npuscope::profile_test {
namespace {

TEST(Spans, AllColumnsHaveAsManyRows) {
  Spans spans;
  for (const std::size_t rows : {3u, 1'000u, 2u}) {
    spans.resize(rows);
    EXPECT_EQ(spans.size(), rows);
    EXPECT_EQ(spans.unit.size(), rows);
    EXPECT_EQ(spans.op.size(), rows);
    EXPECT_EQ(spans.kind.size(), rows);
    EXPECT_EQ(spans.start.size(), rows);
    EXPECT_EQ(spans.duration.size(), rows);
    EXPECT_EQ(spans.processor_cycles.size(), rows);
    EXPECT_EQ(spans.instance.size(), rows);
  }
}

TEST(Spans, ResizingKeepsTheRowsThatStay) {
  Spans spans;
  spans.resize(1);
  spans.unit[0] = UnitId{4};
  spans.start[0] = 30711;
  spans.resize(1'000);
  EXPECT_EQ(spans.unit[0], UnitId{4});
  EXPECT_EQ(spans.start[0], 30711);
}

TEST(Profile, IsEmptyAtFirst) {
  const Profile profile;
  EXPECT_EQ(profile.spans.size(), 0u);
  EXPECT_TRUE(profile.units.empty());
  EXPECT_EQ(profile.text(StringId::empty), "");
}

TEST(Profile, NamesAreInternedInItsOwnPool) {
  Profile profile;
  const StringId kernel = profile.strings.intern("aicsoftmax");
  profile.ops.push_back({.name = profile.strings.intern("/layer.0/Softmax"), .kind = kernel});
  const Profile copy = profile;
  EXPECT_EQ(copy.text(copy.ops[0].kind), "aicsoftmax");
  EXPECT_EQ(copy.text(copy.ops[0].name), "/layer.0/Softmax");
}

// An empty reference must never be taken for row 0.
TEST(Ids, NoneIsNoRow) {
  EXPECT_EQ(index_of(UnitId::none), 0xFFFFFFFFu);
  EXPECT_EQ(index_of(OpId::none), 0xFFFFFFFFu);
  EXPECT_EQ(index_of(SpanId::none), 0xFFFFFFFFu);
  EXPECT_EQ(Unit{}.parent, UnitId::none);
  EXPECT_EQ(Edge{}.from, OpId::none);
}

}  // namespace
}  // namespace npuscope::profile_test
