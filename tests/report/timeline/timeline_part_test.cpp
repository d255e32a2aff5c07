#include "npuscope/report/timeline_part.hpp"

#include <gmock/gmock.h>

#include "report/timeline/timeline_fixture.hpp"

namespace npuscope::report::timeline_part_test {
namespace {

using ::testing::HasSubstr;

Profile two_cores() {
  Profile profile = timeline_profile();
  profile.units[2].core = 1;  // HVX 1
  profile.spans.instance.assign(profile.spans.size(), 0);
  profile.spans.instance[3] = profile.spans.instance[4] = 1;
  return profile;
}

TimelinePartText within(const char* from, const char* until) {
  TimelinePartText text;
  text.selection.from = from;
  text.selection.until = until;
  return text;
}

TimelinePartText of_ops(const char* pattern) {
  TimelinePartText text;
  text.selection.op = pattern;
  return text;
}

TEST(TimelinePart, WithoutConditionsIsTheWhole) {
  const auto part = select_timeline(timeline_profile(), {});
  ASSERT_TRUE(part);
  EXPECT_FALSE(part->part);
  EXPECT_EQ(part->window, (Interval{1000, 2000}));
  EXPECT_EQ(part->origin, 1000);
}

TEST(TimelinePart, AWindowIsAsItWasAskedForAlsoInAGap) {
  const auto part = select_timeline(timeline_profile(), within("850cyc", "99999cyc"));
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->window, (Interval{1850, 2000}));
  EXPECT_EQ(part->origin, 1000);
  EXPECT_EQ(part->part->spans.size(), 1u);
}

TEST(TimelinePart, OfACoreKeepsTheWholeTimeline) {
  const auto part = select_timeline(two_cores(), {.core = 1});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->part->spans.size(), 1u);
  EXPECT_EQ(part->window, (Interval{1000, 2000}));
}

TEST(TimelinePart, OfAnInferenceIsItsOwnTime) {
  const auto part = select_timeline(two_cores(), {.inference = 1});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->part->spans.size(), 2u);
  EXPECT_EQ(part->window, (Interval{1600, 2000}));
}

std::string error_of(const Profile& profile, const TimelinePartText& text) {
  const auto part = select_timeline(profile, text);
  if (part) return "";
  EXPECT_EQ(part.error().kind, ErrorKind::usage);
  return part.error().message;
}

// It was said that the profile tells of no work, which it does: of work that takes no time.
TEST(TimelinePart, OfSpansThatTakeNoTimeSaysThatNothingWasMeasured) {
  Profile profile = two_cores();
  for (std::int64_t& start : profile.spans.start) start = 5;
  for (std::int64_t& duration : profile.spans.duration) duration = 0;
  const auto part = select_timeline(profile, {});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind, ErrorKind::input);
  EXPECT_THAT(part.error().message, HasSubstr("spans take no time, so nothing was measured"));
}

TEST(TimelinePart, SaysWhatThereWouldBe) {
  EXPECT_EQ(error_of(two_cores(), {.core = 7}), "--core 7: no such core; the cores are: 0, 1");
  EXPECT_EQ(error_of(two_cores(), {.inference = 9}),
            "--inference 9: no such inference; the inferences are: 0, 1");
  EXPECT_THAT(error_of(timeline_profile(), {.inference = 0}),
              HasSubstr("does not say which inference its spans are of"));
  EXPECT_THAT(error_of(two_cores(), within("810cyc", "890cyc")),
              HasSubstr("nothing of the timeline is selected"));
  EXPECT_THAT(error_of(two_cores(), of_ops("(")), HasSubstr("--op"));
}

TEST(TimelinePart, AProfileWithoutSpansIsOfAnotherKind) {
  test_support::ProfileBuilder made;
  made.profile.provenance.files = {"summary.txt"};
  const auto part = select_timeline(made.profile, {});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind, ErrorKind::input);
  EXPECT_EQ(part.error().message,
            "summary.txt: says of no work or wait when it was; npuscope show tells what it has");
}

TEST(TimelinePart, InferencesWithoutWorkInsideAreNoTimeline) {
  test_support::ProfileBuilder made;
  made.span(made.unit("core 0", Engine::core), "", 0, 100, SpanKind::inference);
  const auto part = select_timeline(made.profile, {});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace npuscope::report::timeline_part_test
