#include "profile/far_spans.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"

namespace npuscope::far_spans_test {
namespace {

using test_support::ProfileBuilder;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t second = 1'000'000'000;

// 30 spans of 10 us each 20 us from `begin` on.
struct Trace : ProfileBuilder {
  explicit Trace(std::int64_t begin) : ProfileBuilder("trace", ClockKind::wall, 1e9) {
    thread = unit("stream 7", Engine::thread);
    for (int i = 0; i < 30; ++i) add("op", begin + i * 20'000, 10'000);
  }
  void add(const char* name, std::int64_t start, std::int64_t duration) {
    span(thread, name, start, start + duration, SpanKind::kernel);
  }
  UnitId thread{};
};

TEST(FarSpans, OneWithoutADurationAtTimeZeroMadeTheWall) {
  for (const std::int64_t at : {std::int64_t{0}, -second}) {
    Trace made(1'615'207'264 * second);
    made.add("lost", at, 0);
    set_far_spans_apart(made.profile);
    ASSERT_EQ(made.profile.spans.size(), 31u);
    EXPECT_THAT(made.profile.spans.start, Each(testing::Ge(1'615'207'264 * second)));
    ASSERT_EQ(made.profile.notes.size(), 1u);
    EXPECT_THAT(made.profile.notes[0].message,
                AllOf(HasSubstr("'lost' on stream 7"), HasSubstr("placed at the first start")));
  }
}

TEST(FarSpans, FewAtTimeZeroOrInAFarFutureMadeTheWall) {
  Trace made(5'000 * second);
  made.add("early", 0, 5'000);
  made.add("late", 900'000 * second, 5'000);
  set_far_spans_apart(made.profile);
  EXPECT_EQ(made.profile.spans.size(), 30u);
  ASSERT_EQ(made.profile.notes.size(), 1u);
  EXPECT_EQ(made.profile.notes[0].count, 2u);
  EXPECT_THAT(made.profile.notes[0].message,
              AllOf(HasSubstr("'early' on stream 7 at 0 s"), HasSubstr("'late'")));
}

TEST(FarSpans, ARunThatBeginsLateOrPausesKeepsAll) {
  Trace late(13 * second);  // as where a warm-up came first
  late.add("start", 0, 5'000);
  Trace marker(1'000);
  marker.add("marker", 0, 0);
  Trace twice(1'000);
  for (int i = 0; i < 30; ++i) twice.add("op", 3'600 * second + i * 20'000, 10'000);
  for (Trace* each : {&late, &marker, &twice}) {
    const auto before = each->profile.spans.start;
    set_far_spans_apart(each->profile);
    EXPECT_EQ(each->profile.spans.start, before);
    EXPECT_THAT(each->profile.notes, IsEmpty());
  }
}

TEST(FarSpans, ForgedTimesAreNoTrouble) {
  ProfileBuilder empty;
  set_far_spans_apart(empty.profile);
  Trace made(0);
  made.add("a", std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max());
  made.add("b", std::numeric_limits<std::int64_t>::min(), 5);
  made.profile.spans.op.back() = OpId{900};
  made.profile.spans.unit.back() = UnitId{900};
  set_far_spans_apart(made.profile);
  EXPECT_EQ(made.profile.spans.size(), 30u);
}

}  // namespace
}  // namespace npuscope::far_spans_test
