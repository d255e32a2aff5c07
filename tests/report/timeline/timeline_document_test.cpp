#include "report/timeline/timeline_document.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "npuscope/formats/open.hpp"
#include "report/picture/axes.hpp"
#include "report/timeline/timeline_fixture.hpp"

namespace npuscope::report::timeline_document_test {
namespace {

using analysis::RowsBy;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string expected(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(std::string(NPUSCOPE_TEST_DATA "/timeline/") + name).rdbuf();
  return text.str();
}

Document document_of(const Profile& profile, const TimelineOf& timeline, const TimelineView& view) {
  const auto cells = analysis::Analysis(profile).cells(
      timeline.rows,
      {.columns = timeline_columns(timeline.rows, view), .fill = view.fill, .fills = 25});
  return make_timeline_document(profile, timeline.rows, cells, view);
}

std::string page_of(const Profile& profile, const analysis::TimelineRequest& request,
                    const TimelineView& view) {
  const TimelineOf timeline(profile, request);
  return document_text(document_of(profile, timeline, view), view.width);
}

TEST(TimelineDocument, ByUnitOnANarrowPage) {
  EXPECT_EQ(page_of(timeline_profile(), {}, {.width = 60, .origin = 1000}),
            expected("units_60.txt"));
}

TEST(TimelineDocument, ByUnitOnAWidePageInBlocks) {
  EXPECT_EQ(page_of(timeline_profile(), {}, {.width = 110, .origin = 1000, .blocks = true}),
            expected("units_110.txt"));
}

TEST(TimelineDocument, ByOpWithLetters) {
  EXPECT_EQ(page_of(timeline_profile(), {.by = RowsBy::op, .order = analysis::RowOrder::start},
                    {.width = 80, .origin = 1000, .fill = RowsBy::kind}),
            expected("ops_80.txt"));
}

// Labels of ops that differ in the middle looked alike.
// Labels that --op takes were shortened in the middle.
TEST(TimelineDocument, ElidedLabelsCouldNotBeTyped) {
  test_support::ProfileBuilder made;
  const UnitId nss = made.unit("NSS", Engine::core);
  made.span(nss, "the main_dispatch_7_conv2d > nss_program_0 @L94C11", 0, 10);
  made.span(nss, "the main_dispatch_11_conv2d > nss_program_0 @L94C11", 10, 20);
  const std::string page = page_of(made.profile, {.by = RowsBy::op}, {.width = 60});
  const std::string drawing = page.substr(0, page.find("ROWS"));
  EXPECT_THAT(drawing, HasSubstr("\n  the main_dispatch_7_conv2d > nss_program_0 @L94C11\n  "));
  EXPECT_THAT(drawing, HasSubstr("\n  the main_dispatch_11_conv2d > nss_program_0 @L94C11\n  "));
  EXPECT_THAT(drawing, Not(HasSubstr("…")));
}

TEST(TimelineDocument, OfSomeOpsSaysThatTheRestIsNotIdle) {
  const std::string page =
      page_of(timeline_profile(), {.top = 1}, {.width = 80, .of_ops = true, .of_part = true});
  EXPECT_THAT(page, HasSubstr("longest rest"));
  EXPECT_THAT(page, HasSubstr("nothing of the selection"));
  EXPECT_THAT(page, HasSubstr("1 row with less work is left out, with 36.4 % of all work"));
}

TEST(TimelineDocument, FewerTicksThanCharactersFillTheWidth) {
  test_support::ProfileBuilder made;
  const UnitId unit = made.unit("HMX", Engine::hmx);
  made.span(unit, "a", 0, 2);
  made.span(unit, "b", 3, 4);
  made.profile.provenance.files = {"tiny"};
  const std::string page = page_of(made.profile, {}, {.width = 60});
  EXPECT_THAT(page, HasSubstr("HMX  |" + std::string(22, '#') + std::string(11, ' ') +
                              std::string(10, '#') + "|"));
}

TEST(TimelineDocument, JsonHasTheCellsAndTheyAddUp) {
  const Profile profile = timeline_profile();
  const TimelineOf timeline(profile);
  const Document document = document_of(profile, timeline, {.width = 90, .origin = 1000});
  const auto json = nlohmann::json::parse(documents_json({&document, 1}, {}))["profiles"][0];
  EXPECT_EQ(json["timeline"]["wall"], 1000);
  EXPECT_DOUBLE_EQ(json["timeline"]["parallelism"], 1100.0 / 900);
  EXPECT_DOUBLE_EQ(json["timeline"]["parallelism_with_waits"], 1200.0 / 900);
  EXPECT_EQ(json["at_once"]["most_units"], 2);
  std::int64_t busy = 0, waiting = 0;
  for (const auto& cell : json["cells"]["rows"]) {
    busy += cell["busy"].get<std::int64_t>();
    waiting += cell["waiting"].get<std::int64_t>();
  }
  EXPECT_EQ(busy, 1100);
  EXPECT_EQ(waiting, 100);
  EXPECT_EQ(json["gaps"]["rows"][0]["length"], 100);
  EXPECT_EQ(json["gaps"]["rows"][0]["before"], "MatMul_2");
  EXPECT_EQ(documents_csv({&document, 1}, "rows").value(),
            "row,spans,work,busy,busy_share_of_wall,waiting,idle,span,longest_idle\n"
            "core 0 > HMX 0,3,700,700,0.7,100,200,1000,100\n"
            "core 0 > HVX 1,1,400,400,0.4,0,600,400,300\n");
}

// The figures that the vendor's own summary of this run states.
TEST(TimelineDocument, OfARealOptraceStatesItsKnownFigures) {
  const std::vector<std::filesystem::path> folder{NPUSCOPE_SHARED_DIR "/data/qnn/chain8"};
  if (!std::filesystem::exists(folder.front())) GTEST_SKIP() << "no samples here";
  const auto opened = open_profiles(folder, {});
  ASSERT_TRUE(opened);
  const Profile& profile = opened->profiles.front();
  const TimelineOf timeline(profile);
  EXPECT_EQ(timeline.rows.wall, 64'829);
  EXPECT_EQ(timeline.rows.occupied.sum, 68'626);
  EXPECT_EQ(timeline.rows.occupied.length, 63'056);
  EXPECT_EQ(timeline.rows.gap_count, 43u);
  const TimelineView view{.width = 100, .origin = timeline.rows.window.begin};
  const std::string page = document_text(document_of(profile, timeline, view), view.width);
  EXPECT_THAT(page, HasSubstr("TIMELINE by unit, 64,829 cycles"));
  EXPECT_THAT(page, HasSubstr("63,056   97.3 %          68,626         1.088"));
}

std::vector<std::string> marks_of(const Profile& profile, Interval window, std::int64_t origin,
                                  std::size_t max) {
  const TimelineAxis axis = make_axis(profile, window, origin, max);
  std::vector<std::string> texts;
  for (const TimelineMark& mark : axis.marks) texts.push_back(mark.text);
  texts.push_back(axis.unit);
  return texts;
}

TEST(TimelineAxis, HasRoundTimesAfterTheOrigin) {
  test_support::ProfileBuilder made;
  EXPECT_THAT(marks_of(made.profile, {22, 64'851}, 22, 4),
              ElementsAre("0", "20,000", "40,000", "60,000", "cycles"));
  EXPECT_EQ(make_axis(made.profile, {22, 64'851}, 22, 4).marks[1].time, 20'022);
  EXPECT_THAT(marks_of(made.profile, {0, 3'000'000'000}, 0, 5),
              ElementsAre("0", "1", "2", "3", "billion cycles"));
  EXPECT_THAT(marks_of(made.profile, {5'000'100, 5'000'130}, 0, 4),
              ElementsAre("5,000,100", "5,000,110", "5,000,120", "5,000,130", "cycles"));
}

TEST(TimelineAxis, OfAClockOfTimeIsInItsUnits) {
  test_support::ProfileBuilder made("timer", ClockKind::timer, 19.2e6);
  EXPECT_THAT(marks_of(made.profile, {0, 1920}, 0, 6),
              ElementsAre("0", "20", "40", "60", "80", "100", "us"));
  const TimelineAxis axis = make_axis(made.profile, {0, 1920}, 0, 6);
  EXPECT_EQ(axis.marks[1].time, 384) << "20 us of 19.2 MHz";
}

TEST(TimelineAxis, NeverHasMoreMarksThanAskedForOrAnyOutside) {
  test_support::ProfileBuilder made;
  for (std::int64_t length = 1; length < 5'000; length += 37) {
    for (std::size_t max = 2; max < 12; ++max) {
      const Interval window{1'000, 1'000 + length};
      const TimelineAxis axis = make_axis(made.profile, window, 40, max);
      EXPECT_LE(axis.marks.size(), max);
      for (const TimelineMark& mark : axis.marks) {
        EXPECT_GE(mark.time, window.begin);
        EXPECT_LE(mark.time, window.end);
      }
    }
  }
}

}  // namespace
}  // namespace npuscope::report::timeline_document_test
