#include <gmock/gmock.h>

#include "report/selection.hpp"
#include "report/timeline/timeline_fixture.hpp"

namespace npuscope::report::selection_of_timeline_test {
namespace {

using ::testing::HasSubstr;

Result<ProfilePart> part_of_timeline(const Profile& profile, const Selection& selection) {
  return select(profile, selection, {.needs_timeline = true});
}

Profile two_cores() {
  Profile profile = timeline_profile();
  profile.units[2].core = 1;  // HVX 1
  profile.spans.instance.assign(profile.spans.size(), 0);
  profile.spans.instance[3] = profile.spans.instance[4] = 1;
  return profile;
}

Selection within(const char* from, const char* until) {
  Selection text;
  text.from = from;
  text.until = until;
  return text;
}

Selection of_ops(const char* pattern) {
  Selection text;
  text.op = pattern;
  return text;
}

TEST(SelectionOfATimeline, WithoutConditionsIsTheWhole) {
  const auto part = part_of_timeline(timeline_profile(), {});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->profile.spans.size(), timeline_profile().spans.size());
  EXPECT_EQ(part->window, (Interval{1000, 2000}));
  EXPECT_EQ(part->origin, 1000);
}

TEST(SelectionOfATimeline, AWindowIsAsItWasAskedForAlsoInAGap) {
  const auto part = part_of_timeline(timeline_profile(), within("850cyc", "99999cyc"));
  ASSERT_TRUE(part) << part.error().message;
  EXPECT_EQ(part->window, (Interval{1850, 2000}));
  EXPECT_EQ(part->origin, 1000);
  EXPECT_EQ(part->profile.spans.size(), 1u);
}

TEST(SelectionOfATimeline, OfACoreKeepsTheWholeTimeline) {
  const auto part = part_of_timeline(two_cores(), {.core = 1});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->profile.spans.size(), 1u);
  EXPECT_EQ(part->window, (Interval{1000, 2000}));
}

TEST(SelectionOfATimeline, OfAnInferenceIsItsOwnTime) {
  const auto part = part_of_timeline(two_cores(), {.inference = 1});
  ASSERT_TRUE(part);
  EXPECT_EQ(part->profile.spans.size(), 2u);
  EXPECT_EQ(part->window, (Interval{1600, 2000}));
}

std::string error_of(const Profile& profile, const Selection& text) {
  const auto part = part_of_timeline(profile, text);
  if (part) return "";
  EXPECT_EQ(part.error().kind, ErrorKind::usage);
  return part.error().message;
}

// It was said that the profile tells of no work, which it does: of work that takes no time.
TEST(SelectionOfATimeline, OfSpansThatTakeNoTimeSaysThatNothingWasMeasured) {
  Profile profile = two_cores();
  for (std::int64_t& start : profile.spans.start) start = 5;
  for (std::int64_t& duration : profile.spans.duration) duration = 0;
  const auto part = part_of_timeline(profile, {});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind, ErrorKind::input);
  EXPECT_THAT(part.error().message, HasSubstr("spans take no time, so nothing was measured"));
}

TEST(SelectionOfATimeline, SaysWhatThereWouldBe) {
  EXPECT_EQ(error_of(two_cores(), {.core = 7}), "--core 7: no such core; the cores are: 0, 1");
  EXPECT_EQ(error_of(two_cores(), {.inference = 9}),
            "--inference 9: no such inference; the inferences are: 0, 1");
  EXPECT_THAT(error_of(timeline_profile(), {.inference = 0}),
              HasSubstr("does not say which inference its spans are of"));
  EXPECT_THAT(error_of(two_cores(), within("810cyc", "890cyc")),
              HasSubstr("nothing of the timeline is selected"));
  EXPECT_THAT(error_of(two_cores(), of_ops("(")), HasSubstr("--op"));
}

TEST(SelectionOfATimeline, AProfileWithoutSpansIsOfAnotherKind) {
  test_support::ProfileBuilder made;
  made.profile.provenance.files = {"summary.txt"};
  const auto part = part_of_timeline(made.profile, {});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind, ErrorKind::input);
  EXPECT_EQ(part.error().message,
            "summary.txt: holds no times of work or waits; npuscope show lists what it holds");
}

TEST(SelectionOfATimeline, InferencesWithoutWorkInsideAreNoTimeline) {
  test_support::ProfileBuilder made;
  made.span(made.unit("core 0", Engine::core), "", 0, 100, SpanKind::inference);
  const auto part = part_of_timeline(made.profile, {});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().kind, ErrorKind::input);
}
}  // namespace
}  // namespace npuscope::report::selection_of_timeline_test
