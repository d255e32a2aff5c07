#include "profile/in_order.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"

namespace npuscope::in_order_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Stream : ProfileBuilder {
  Stream() : ProfileBuilder("trace", ClockKind::wall, 1e9) {
    stream = unit("stream 3", Engine::thread);
    lane = unit("stream 3 (lane 2)", Engine::thread, stream);
    profile.units.back().lane = 1;
  }
  void cut() {
    cut_in_order(profile,
                 [&](std::size_t row) { return profile.spans.kind[row] == SpanKind::kernel; });
  }
  void kernel(const char* name, std::int64_t start, std::int64_t end, UnitId on) {
    span(on, name, start, end, SpanKind::kernel);
  }
  UnitId stream{}, lane{};
};

TEST(InOrder, AKernelOfSecondsEnclosedTheNextOnes) {
  Stream made;
  made.kernel("fmha", 60, 680, made.stream);
  made.kernel("gemm", 80, 90, made.stream);
  made.kernel("fmha", 100, 685, made.lane);  // beside the first for what is cut
  made.kernel("gemm", 120, 130, made.stream);
  made.cut();
  EXPECT_THAT(made.profile.spans.duration, ElementsAre(20, 10, 20, 10));
  EXPECT_EQ(made.profile.spans.unit[2], made.stream);
  ASSERT_EQ(made.profile.measures.size(), 2u);
  EXPECT_EQ(made.profile.measures[0].meaning.role, NumberRole::recorded_duration);
  EXPECT_EQ(made.profile.measures[0].subject_id, 2u);
  EXPECT_EQ(made.profile.measures[0].value, 585);
  ASSERT_EQ(made.profile.notes.size(), 1u);
  EXPECT_EQ(made.profile.notes[0].count, 2u);
  EXPECT_THAT(made.profile.notes[0].message, HasSubstr("'fmha' on stream 3, 0.62 us as recorded"));
}

TEST(InOrder, WhatOverlapsInPartOrIsOfAnotherTrackOrSortStays) {
  Stream made;
  made.kernel("a", 0, 20, made.stream);
  made.kernel("b", 18, 40, made.lane);
  made.kernel("c", 50, 60, made.stream);
  made.kernel("twin", 50, 60, made.lane);
  made.kernel("other stream", 0, 100, made.unit("stream 4", Engine::thread));
  made.span(made.stream, "range", 0, 100, SpanKind::annotation);
  made.cut();
  EXPECT_THAT(made.profile.spans.duration, ElementsAre(20, 22, 10, 10, 100, 100));
  EXPECT_EQ(made.profile.spans.unit[1], made.lane);
  EXPECT_THAT(made.profile.notes, IsEmpty());
}

}  // namespace
}  // namespace npuscope::in_order_test
