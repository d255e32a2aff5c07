// The page of a real HTP optrace set, against figures counted from its files by hand.
#include <gmock/gmock.h>

#include <filesystem>

#include "npuscope/analysis/analysis.hpp"
#include "npuscope/formats/open.hpp"
#include "report/show/show.hpp"

namespace npuscope::report::show_of_htp_test {
namespace {

using namespace analysis;
using ::testing::HasSubstr;

TEST(ShowOfHtp, KeepsIssueWaitsAndLanesApart) {
  const std::filesystem::path folder = NPUSCOPE_SHARED_DIR "/data/qnn/chain8";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared samples are not here";
  const auto opened = open_profiles({&folder, 1});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->profiles.size(), 1u);
  const Page page = make_page(analysis::Analysis(opened->profiles[0]), {.top = 50});
  const Coarse& coarse = page.coarse;
  EXPECT_EQ(coarse.wall, 64'829);
  EXPECT_EQ(coarse.active + coarse.waiting(), 63'056);  // QHAS counts waits as busy
  EXPECT_EQ(coarse.parts[std::size_t(Part::other_waiting)], 261);
  const auto hmx = std::find_if(page.units.engines.begin(), page.units.engines.end(),
                                [](const EngineRow& row) { return row.engine == Engine::hmx; });
  EXPECT_EQ(hmx->domain, 12'312);
  std::int64_t busy = 0, waiting = 0;
  for (const UnitRow& row : page.units.units) {
    busy += row.busy;
    waiting += row.waiting;
  }
  EXPECT_EQ(busy + waiting, 68'626);
  EXPECT_EQ(waiting, 11'834 + 261);
  const std::string text = page_text(page, 130);
  // The call before the graph, and what decides it as the first finding.
  EXPECT_LT(text.find("WARM CALL  2.439 ms"), text.find("WALL  64,829"));
  EXPECT_THAT(text, HasSubstr("Host and transport take 98.5 % of a warm call"));
  EXPECT_THAT(text, HasSubstr("\n  DMA issue      1        14,357   22.1 %"));
  EXPECT_THAT(text, HasSubstr("waits only     0            261   0.4 %"));
  EXPECT_THAT(text, HasSubstr("UNITS (3), busy without waits\n"));
  EXPECT_THAT(text, HasSubstr("\n  busy, waits included "));
}

}  // namespace
}  // namespace npuscope::report::show_of_htp_test
