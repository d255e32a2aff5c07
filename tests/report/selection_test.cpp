#include "report/selection.hpp"

#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"

namespace npuscope::report::selection_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::HasSubstr;

Profile in_nanoseconds() {
  ProfileBuilder made("trace", ClockKind::wall, 1e9);
  const UnitId process = made.unit("python", Engine::process);
  const UnitId thread = made.unit("main", Engine::thread, process);
  made.span(thread, "a", 1'000'000, 2'000'000, SpanKind::slice, "kernel");
  made.span(thread, "b", 3'000'000, 4'000'000, SpanKind::slice, "user");
  return std::move(made.profile);
}

Profile in_cycles() {
  ProfileBuilder made;
  made.span(made.unit("HVX", Engine::hvx), "a", 5'000, 6'000);
  return std::move(made.profile);
}

Interval window_of(const Profile& profile, const char* from, const char* until) {
  const auto filter = make_filter(profile, {from, until, "", ""}, false);
  if (!filter) ADD_FAILURE() << filter.error().message;
  return filter ? *filter->window : Interval{};
}

std::string refusal(const Profile& profile, const Selection& text) {
  const auto part = select(profile, text, {.cut = false});
  if (part) return "(accepted)";
  EXPECT_EQ(part.error().kind, ErrorKind::usage);
  return part.error().message;
}

TEST(Selection, TimesCountFromTheFirstStartInAnyUnitThatFitsTheClock) {
  const Profile profile = in_nanoseconds();
  EXPECT_EQ(window_of(profile, "0", "1.5ms"), (Interval{1'000'000, 2'500'000}));
  EXPECT_EQ(window_of(profile, "300us", "1s"), (Interval{1'300'000, 1'001'000'000}));
  EXPECT_EQ(window_of(profile, "-10ns", "20ticks"), (Interval{999'990, 1'000'020}));
}

TEST(Selection, AnAtSignMakesATimeAbsolute) {
  EXPECT_EQ(window_of(in_nanoseconds(), "@1ms", "@1500us"), (Interval{1'000'000, 1'500'000}));
}

TEST(Selection, CyclesNeedACycleClockAndSecondsAKnownRate) {
  EXPECT_EQ(window_of(in_cycles(), "100cyc", "200cycles"), (Interval{5'100, 5'200}));
  EXPECT_EQ(refusal(in_cycles(), {"1us", "", "", ""}),
            "--from 1us: the rate of this profile's clock is unknown; write it in cyc");
  EXPECT_EQ(refusal(in_nanoseconds(), {"", "5cyc", "", ""}),
            "--to 5cyc: this profile's times are not in cycles; write it in us or ticks");
}

TEST(Selection, TimesOfOneTimedPhaseNeedNoOtherRate) {
  Profile profile = in_cycles();
  Phase phase;
  phase.start = 4'000;
  phase.duration = 4'000;
  phase.microseconds = 4;
  profile.phases.push_back(phase);
  EXPECT_EQ(window_of(profile, "0.5us", "1us"), (Interval{5'500, 6'000}));
}

TEST(Selection, WhatIsNoTimeIsRefusedWithAnExample) {
  EXPECT_EQ(refusal(in_nanoseconds(), {"soon", "", "", ""}),
            "--from soon: not a time; write it like 12.5ms, 300us, 1000cyc or 20ticks");
  EXPECT_EQ(refusal(in_nanoseconds(), {"12", "", "", ""}),
            "--from 12: a time needs a unit; write it like 12.5ms, 300us, 1000cyc or 20ticks");
  EXPECT_THAT(refusal(in_nanoseconds(), {"nan", "", "", ""}), HasSubstr("not a time"));
  EXPECT_THAT(refusal(in_nanoseconds(), {"1e400s", "", "", ""}), HasSubstr("not a time"));
  EXPECT_EQ(refusal(in_nanoseconds(), {"2ms", "1ms", "", ""}),
            "--from 2ms --to 1ms: the window is empty; end it after its begin");
}

TEST(Selection, PatternsAreFoundInUnitPathsAndInNamesKindsAndNodesOfOps) {
  const Profile profile = in_nanoseconds();
  EXPECT_EQ(select(profile, {"", "", "python.*main", ""}, {.cut = false})->profile.spans.size(),
            2u);
  EXPECT_EQ(select(profile, {"", "", "", "^b$|nothing"}, {.cut = false})->profile.spans.size(), 1u);
  EXPECT_EQ(select(profile, {"", "", "", "kern"}, {.cut = false})->profile.spans.size(), 1u);
}

TEST(Selection, TilesAreOfTheRowThatBearsTheNameOfTheirOp) {
  ProfileBuilder made;
  const UnitId unit = made.unit("HVX", Engine::hvx);
  made.span(unit, "sort/__0", 0, 10);
  made.span(unit, "sort/__1", 10, 20);
  made.span(unit, "sort_again", 20, 30);
  EXPECT_EQ(select(made.profile, {"", "", "", "^sort$"}, {.cut = false})->profile.spans.size(), 2u);
}

TEST(Selection, ABrokenPatternAndAnEmptyResultAreRefused) {
  EXPECT_EQ(refusal(in_nanoseconds(), {"", "", "(", ""}),
            "--unit '(': not a regular expression without back references and look-around; check "
            "its brackets and escapes");
  EXPECT_EQ(refusal(in_nanoseconds(), {"", "", "", "xyz"}),
            "--op 'xyz': no op's name, kind or node matches; npuscope ops --by name lists them");
  EXPECT_EQ(refusal(in_nanoseconds(), {"", "", "xyz", ""}),
            "--unit 'xyz': no unit's name matches; npuscope units lists them");
  EXPECT_EQ(refusal(in_nanoseconds(), {"10s", "11s", "", ""}),
            "nothing of 2 spans, 2 ops and 2 units is selected; widen --from, --to, --unit or "
            "--op");
}

// A matcher that backtracks would try 2^40 ways.
TEST(Selection, ANameThatNearlyMatchesANestedRepetitionTakesNoAge) {
  ProfileBuilder made;
  const auto unit = made.unit("u", Engine::hvx);
  made.span(unit, std::string(40, 'a') + "!", 0, 1);
  made.span(unit, "aaa", 1, 1);
  EXPECT_EQ(select(made.profile, {"", "", "", "(a+)+$"}, {.cut = false})->profile.spans.size(), 1u);
}

TEST(Selection, NoSpanOfAProfileWithSpansIsNothingWhateverElseItHas) {
  Profile profile = in_nanoseconds();
  profile.phases.push_back({});
  EXPECT_EQ(refusal(profile, {"10s", "", "", ""}).substr(0, 18), "nothing of 2 spans");
}

TEST(Selection, AHugeNameIsMatchedToItsEnd) {
  ProfileBuilder made;
  made.span(made.unit("u", Engine::hvx), std::string(5'000'000, 'a') + "b", 0, 1);
  EXPECT_EQ(select(made.profile, {"", "", "", "^(a|b)*b$"}, {.cut = false})->profile.spans.size(),
            1u);
}

TEST(Selection, AFormatIsNoTime) {
  for (const char* time : {"12ms", "@5cyc", "-1us", ".5s"}) EXPECT_TRUE(looks_like_time(time));
  for (const char* word : {"chrome", "json", "", "perfetto"}) EXPECT_FALSE(looks_like_time(word));
}

}  // namespace
}  // namespace npuscope::report::selection_test
