#include "report/timeline/timeline_svg.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "base/text.hpp"
#include "report/document/svg_output.hpp"
#include "report/timeline/timeline_fixture.hpp"

namespace npuscope::report::timeline_svg_test {
namespace {

using analysis::RowsBy;
using ::testing::HasSubstr;
using ::testing::Not;

// What is wrong with a document as XML; empty: nothing. Elements close in order, attributes are
// quoted, & begins one of the references that we write, characters are those that XML has.
std::string problem_in(std::string_view xml) {
  std::vector<std::string> open;
  const auto check_text = [](std::string_view text) -> std::string {
    if (printable(text) != text) return "a control character or broken UTF-8";
    for (std::size_t at = text.find('&'); at != text.npos; at = text.find('&', at + 1)) {
      const std::string_view rest = text.substr(at);
      const auto references = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (std::none_of(references.begin(), references.end(),
                       [&](const char* known) { return rest.starts_with(known); })) {
        return "a bare &";
      }
    }
    return "";
  };
  std::size_t at = xml.starts_with("<?xml") ? xml.find("?>") + 2 : 0;
  while (at < xml.size()) {
    const std::size_t tag = std::min(xml.find('<', at), xml.size());
    std::string text(xml.substr(at, tag - at));
    std::erase(text, '\n');
    if (open.empty() && !text.empty()) return "text outside of the root: " + text;
    if (const std::string wrong = check_text(text); !wrong.empty()) return wrong + " in " + text;
    if (tag == xml.size()) break;
    const std::size_t end = xml.find('>', tag);
    if (end == xml.npos) return "an open tag";
    std::string_view inside = xml.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1))
        return "wrong end of " + std::string(inside);
      open.pop_back();
      continue;
    }
    const bool is_empty = inside.ends_with('/');
    if (is_empty) inside.remove_suffix(1);
    if (std::count(inside.begin(), inside.end(), '"') % 2 != 0) return "an open quote";
    if (inside.find('<') != inside.npos) return "< in a tag";
    if (const std::string wrong = check_text(inside); !wrong.empty()) return wrong;
    if (!is_empty) open.push_back(std::string(inside.substr(0, inside.find(' '))));
  }
  return open.empty() ? "" : "not closed: " + open.back();
}

std::string svg_of(const Profile& profile, const analysis::TimelineRequest& request = {},
                   std::optional<RowsBy> fill = RowsBy::engine) {
  const TimelineOf timeline(profile, request);
  const SvgView view{.width = 252, .origin = timeline.rows.window.begin};
  const auto cells = analysis::Analysis(profile).cells(
      timeline.rows,
      {.columns = svg_columns(timeline.rows, view), .fill = fill, .fills = svg_fills});
  return timeline_svg(profile, timeline.rows, cells, view);
}

TEST(TimelineSvg, HasRowsAxisUnitsAndLegend) {
  const std::string svg = svg_of(timeline_profile());
  EXPECT_EQ(problem_in(svg), "");
  for (const char* text : {">HMX</text>", ">HVX 1</text>", ">500</text>", ">time (cycles)</text>",
                           ">waiting</text>", "width=\"252pt\""}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  for (const char* foreign : {"<script", "href", "<style", "url(", "trace.json"}) {
    EXPECT_THAT(svg, Not(HasSubstr(foreign)));
  }
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

TEST(TimelineSvg, TheCheckerFindsWhatIsWrong) {
  EXPECT_NE(problem_in("<svg><text>a & b</text></svg>"), "");
  EXPECT_NE(problem_in("<svg><text></svg></text>"), "");
  EXPECT_NE(problem_in("<svg a=\"1></svg>"), "");
  EXPECT_NE(problem_in("<svg>"), "");
  EXPECT_NE(problem_in("<svg>\x01</svg>"), "");
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
  ASSERT_EQ(grey.size(), svg_fills + 1);
  std::sort(grey.begin(), grey.end());
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

TEST(SvgOutput, NumbersHaveTheDecimalsTheyNeed) {
  EXPECT_EQ(svg_number(12), "12");
  EXPECT_EQ(svg_number(12.5), "12.5");
  EXPECT_EQ(svg_number(1.0 / 3), "0.33");
  EXPECT_EQ(svg_number(-0.001), "0");
}

}  // namespace
}  // namespace npuscope::report::timeline_svg_test
