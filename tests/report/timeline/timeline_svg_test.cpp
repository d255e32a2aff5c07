#include "npuscope/analysis/analysis.hpp"
#include "report/timeline/timeline_document.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "report/picture/xml_check.hpp"
#include "report/timeline/timeline_drawing.hpp"
#include "report/timeline/timeline_fixture.hpp"

namespace npuscope::report::timeline_svg_test {
namespace {

using analysis::RowsBy;
using ::testing::HasSubstr;
using ::testing::Not;

std::string svg_of(const Profile& profile, const analysis::TimelineRequest& request = {},
                   std::optional<RowsBy> fill = RowsBy::engine) {
  const TimelineOf timeline(profile, request);
  const SvgView view{{}, timeline.rows.window.begin, fill};
  const auto cells = analysis::Analysis(profile).cells(
      timeline.rows,
      {.columns = svg_columns(profile, timeline.rows, view), .fill = fill, .fills = svg_fills});
  return timeline_svg(profile, timeline.rows, cells, view);
}

TEST(TimelineSvg, HasRowsAxisUnitsAndLegend) {
  const std::string svg = svg_of(timeline_profile());
  EXPECT_EQ(problem_in(svg), "");
  for (const char* text : {">HMX 0<title>", ">HVX 1<title>", ">500</text>", ">time (cycles)</text>",
                           ">waiting</text>", "width=\"960\""}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  for (const char* foreign : {"<script", "href", "<style", "url(", "trace.json"}) {
    EXPECT_THAT(svg, Not(HasSubstr(foreign)));
  }
}

TEST(TimelineSvg, BarsSayWhatTheyAre) {
  const std::string svg = svg_of(timeline_profile());
  EXPECT_THAT(svg, HasSubstr("<title>HMX 0, HMX: 0 to 400 cycles, 100.0 % at work</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>HMX 0: waits 10.0 % of the wall</title>"));
  EXPECT_THAT(svg, HasSubstr("wall 1,000 cycles · core 0"));
  EXPECT_THAT(svg_of(timeline_profile(), {}, RowsBy::kind), HasSubstr("<title>HMX 0, conv: 0 to"));
}

TEST(TimelineSvg, TheDmaOfACoreIsBesideItsOtherUnits) {
  test_support::ProfileBuilder made;
  const UnitId cores[] = {made.unit("core 0", Engine::core), made.unit("core 1", Engine::core)};
  for (const auto& [name, engine] :
       {std::pair{"HMX", Engine::hmx}, std::pair{"DMA", Engine::dma}}) {
    for (const UnitId core : cores) made.span(made.unit(name, engine, core), "op", 0, 10);
  }
  const TimelineOf timeline(made.profile);
  const TimelineLanes lanes = lanes_of(made.profile, timeline.rows);
  ASSERT_EQ(lanes.groups.size(), 2u);
  EXPECT_EQ(lanes.lane_count(), 4u);
  for (const std::size_t core : {0u, 1u}) {
    EXPECT_EQ(lanes.groups[core].label, "core " + std::to_string(core));
    ASSERT_EQ(lanes.groups[core].lanes.size(), 2u);
    EXPECT_EQ(lanes.groups[core].lanes[0].label, "HMX 0");
    EXPECT_EQ(lanes.groups[core].lanes[1].label, "DMA 0");
  }
  EXPECT_THAT(svg_of(made.profile), HasSubstr("font-weight=\"bold\" text-anchor=\"end\">core 1<"));
}

TEST(TimelineSvg, NamesAreDataWhateverTheySay) {
  test_support::ProfileBuilder made;
  const UnitId unit = made.unit("</text><script>alert('&')</script>", Engine::hmx);
  const UnitId other = made.unit("a\x1b\xff\"b\xEF\xBF\xBF\xE2\x80\xAE", Engine::hvx);
  made.span(unit, "<&>", 0, 5, SpanKind::op, "]]>\x01");
  made.span(other, "<&>", 3, 9, SpanKind::op, "\"'");
  for (const RowsBy by : {RowsBy::unit, RowsBy::op, RowsBy::kind}) {
    const std::string svg = svg_of(made.profile, {.by = by}, by);
    EXPECT_EQ(problem_in(svg), "") << svg;
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
  }
}

// The relative luminance of each fill, which is what is left of a colour in print.
TEST(TimelineSvg, ColoursDifferInGrey) {
  test_support::ProfileBuilder made;
  const UnitId unit = made.unit("HMX", Engine::hmx);
  for (int i = 0; i < 9; ++i) {
    made.span(unit, "op", 10 * i, 10 * i + 10 - i, SpanKind::op, std::string(1, char('a' + i)));
  }
  const std::string svg = svg_of(made.profile, {}, RowsBy::kind);
  std::vector<double> grey;
  const std::string start = "<path fill=\"#";
  for (std::size_t at = svg.find(start); at != svg.npos; at = svg.find(start, at + 1)) {
    const auto part = [&](std::size_t place) {
      return double(std::strtol(svg.substr(at + start.size() + place, 2).c_str(), nullptr, 16));
    };
    grey.push_back((0.299 * part(0) + 0.587 * part(2) + 0.114 * part(4)) / 255);
  }
  std::sort(grey.begin(), grey.end());
  grey.erase(std::unique(grey.begin(), grey.end()), grey.end());
  ASSERT_EQ(grey.size(), svg_fills + 1);
  for (std::size_t i = 1; i < grey.size(); ++i) EXPECT_GT(grey[i] - grey[i - 1], 0.05);
  EXPECT_THAT(svg, HasSubstr(">3 others</text>"));
}

TEST(TimelineSvg, StaysSmallHoweverManySpans) {
  test_support::ProfileBuilder made;
  std::mt19937 random(3);
  for (int i = 0; i < 30; ++i) {
    const UnitId unit = made.unit("unit " + std::to_string(i), Engine(std::size_t(random() % 6)));
    std::int64_t now = 0;
    for (int span = 0; span < 10'000; ++span) {
      const auto begin = now + std::int64_t(random() % 300);
      now = begin + std::int64_t(random() % 300);
      made.span(unit, "op", begin, now);
    }
  }
  const std::string svg = svg_of(made.profile);
  EXPECT_EQ(problem_in(svg), "");
  EXPECT_LT(svg.size(), 3'000'000u);
}

}  // namespace
}  // namespace npuscope::report::timeline_svg_test
