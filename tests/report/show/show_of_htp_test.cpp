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
  const analysis::Analysis analysis(opened->profiles[0]);
  const Coarse& coarse = analysis.coarse();
  EXPECT_EQ(coarse.wall, 64'829);
  EXPECT_EQ(coarse.active + coarse.waiting(), 63'056);  // QHAS counts waits as busy
  EXPECT_EQ(coarse.parts[std::size_t(Part::other_waiting)], 261);
  const auto hmx = std::find_if(analysis.units().engines.begin(), analysis.units().engines.end(),
                                [](const EngineRow& row) { return row.engine == Engine::hmx; });
  EXPECT_EQ(hmx->domain, 12'312);
  std::int64_t busy = 0, waiting = 0;
  for (const UnitRow& row : analysis.units().units) {
    busy += row.busy;
    waiting += row.waiting;
  }
  EXPECT_EQ(busy + waiting, 68'626);
  EXPECT_EQ(waiting, 11'834 + 261);
  // The call before the graph, and what decides it as the first finding, on one screen.
  const std::string page = document_text(first_page(analysis, {}), 100);
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 30) << page;
  EXPECT_LT(page.find("98.5 % outside the NPU"), page.find("WHERE THE TIME GOES"));
  EXPECT_THAT(page, HasSubstr("\n  call        2.439 ms  3.907 ms  "));
  EXPECT_THAT(page, HasSubstr("\n  1  Host and transport take 98.5 % of a warm call "));
  EXPECT_THAT(page, HasSubstr("q::ForceFormat_Crouton 74 %\n"));
  const auto full = show_document(analysis, {.top = 50});
  ASSERT_TRUE(full);
  const std::string text = document_text(*full, 130);
  EXPECT_THAT(text, HasSubstr("\n  DMA issue      1  14,357   22.1 %"));
  EXPECT_THAT(text, HasSubstr("waits only     0            261   0.4 %"));
  EXPECT_THAT(text, HasSubstr("\n  busy, waits included "));
}

}  // namespace
}  // namespace npuscope::report::show_of_htp_test
