#include "report/picture/figure.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "profile/names.hpp"
#include "report/picture/axes.hpp"
#include "report/picture/xml_check.hpp"

namespace npuscope::report::figure_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(XmlCheck, FindsWhatIsWrong) {
  EXPECT_NE(problem_in("<svg><text>a & b</text></svg>"), "");
  EXPECT_NE(problem_in("<svg><text></svg></text>"), "");
  EXPECT_NE(problem_in("<svg a=\"1></svg>"), "");
  EXPECT_NE(problem_in("<svg>"), "");
  EXPECT_NE(problem_in("<svg>\x01</svg>"), "");
}

TEST(SvgOutput, NumbersHaveTheDecimalsTheyNeed) {
  EXPECT_EQ(svg_number(12), "12");
  EXPECT_EQ(svg_number(12.5), "12.5");
  EXPECT_EQ(svg_number(1.0 / 3), "0.33");
  EXPECT_EQ(svg_number(-0.001), "0");
}

TEST(Figure, HasHeadingLegendAndRemarkOneBelowTheOther) {
  Figure figure(400, {"Timeline", {"of a run"}});
  const double top = figure.y();
  figure.rect({16, top, 100, 10}, engine_colour(Engine::hmx), "HMX: 41 % busy");
  figure.skip(20);
  figure.add_legend({{engine_colour(Engine::hmx), "HMX"}, {wait_colour, "waiting", true}});
  figure.add_remark(
      "One sentence that is too long for a line of a picture of this width, so that it goes on.");
  const std::string svg = figure.svg();
  EXPECT_EQ(problem_in(svg), "");
  for (const char* part :
       {"<title>Timeline</title>", ">of a run</text>", "<title>HMX: 41 % busy</title></rect>",
        ">waiting</text>", "width=\"400\""}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
  EXPECT_GT(figure.y(), top + 20 + 16 + 2 * 16);
}

TEST(Figure, HostileTextIsDataEverywhere) {
  const std::string hostile = "</text><script>alert('&')</script>\x01\xff\xE2\x80\xAE";
  Figure figure(300, {hostile, {hostile}});
  figure.text(0, 0, Anchor::end, hostile, {.tooltip = hostile});
  figure.rect({}, "#000000", hostile);
  figure.circle(1, 1, 1, "#000000", hostile);
  figure.filled_path("M0 0h1v1z", "#000000", hostile);
  figure.line("M0 0h1", "#000000", 1, hostile);
  figure.add_legend({{"#000000", hostile}});
  figure.add_plot_title(hostile, hostile);
  figure.add_remark(hostile);
  EXPECT_EQ(problem_in(figure.svg()), "");
  EXPECT_THAT(figure.svg(), Not(HasSubstr("<script")));
}

TEST(Figure, LegendGoesOnInTheNextLineWhereThereIsNoRoom) {
  Figure narrow(200, FigureHeading{}), wide(2000, FigureHeading{});
  const std::vector<LegendEntry> entries(8, {"#000000", "a name of some length"});
  narrow.add_legend(entries);
  wide.add_legend(entries);
  EXPECT_GT(narrow.y(), wide.y() + 50);
}

TEST(Scale, MarksAreRoundAndWithinTheEnds) {
  EXPECT_THAT(round_marks(0, 64829, 5), ElementsAre(0, 20000, 40000, 60000));
  EXPECT_THAT(round_marks(-5, 5, 3), ElementsAre(-5, 0, 5));
  EXPECT_THAT(round_marks(3, 3, 5), IsEmpty());
  EXPECT_THAT(log_marks(0.3, 4200), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(log_marks(10, 100), ElementsAre(10, 20, 50, 100));
  EXPECT_THAT(log_marks(0, 5), IsEmpty());
  for (double high : {1e-9, 0.7, 1.0, 3.0, 9.99, 1e12}) {
    for (std::size_t max : {2u, 3u, 7u}) {
      const auto marks = round_marks(0, high, max);
      EXPECT_LE(marks.size(), max) << high;
      EXPECT_LE(marks.back(), high * (1 + 1e-8)) << high;
    }
  }
}

TEST(Scale, ValuesLieWhereTheyBelongAndNeverBeyondTheEnds) {
  const Scale linear{0, 10, 100, 200};
  EXPECT_DOUBLE_EQ(linear.at(5), 150);
  EXPECT_DOUBLE_EQ(linear.at(-3), 100);
  EXPECT_DOUBLE_EQ(linear.at(1e9), 200);
  const Scale powers = log_scale(0.3, 420, 0, 400);
  EXPECT_DOUBLE_EQ(powers.low, 0.1);
  EXPECT_DOUBLE_EQ(powers.high, 1000);
  EXPECT_NEAR(powers.at(1), 100, 1e-9);
  EXPECT_NEAR(powers.at(0), 0, 1e-9);
  EXPECT_DOUBLE_EQ((Scale{3, 3, 7, 9}).at(3), 7);
}

// The report's page draws the same profile beside such pictures.
TEST(Palette, EnginesHaveTheColoursOfTheReport) {
  std::ifstream file(std::string(NPUSCOPE_SOURCE_DIR) + "/web/src/style/colours.css");
  std::stringstream css;
  css << file.rdbuf();
  for (std::size_t i = 0; i < engine_count; ++i) {
    EXPECT_THAT(css.str(), HasSubstr("--engine-" + std::string(stable_name(Engine(i))) + ": " +
                                     engine_colour(Engine(i)) + ";"));
  }
}

TEST(Palette, HeatGrowsWithTheShare) {
  EXPECT_EQ(heat_colour(0), "#ffffff");
  EXPECT_EQ(heat_colour(1), "#f2703a");
  EXPECT_EQ(heat_colour(7), heat_colour(1));
  EXPECT_NE(heat_colour(0.05), heat_colour(0));
}

}  // namespace
}  // namespace npuscope::report::figure_test
