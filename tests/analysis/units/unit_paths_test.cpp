// Where a unit lies, as all pages and exports say it.
#include <gtest/gtest.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/units.hpp"

namespace npuscope::analysis::unit_paths_test {
namespace {

using npuscope::test_support::ProfileBuilder;

TEST(UnitPaths, TwoProcessesOfOneNameSharedOne) {
  ProfileBuilder made;
  const UnitId first = made.unit("python", Engine::process);
  const UnitId second = made.unit("python", Engine::process);
  made.profile.units[1].lane = 1;  // as readers number namesakes
  made.profile.units[1].process_id = made.text("4711");
  const UnitId thread = made.unit("main", Engine::thread, second);
  EXPECT_EQ(path_of(made.profile, first), "python");
  EXPECT_EQ(path_of(made.profile, second), "python (4711)");
  EXPECT_EQ(path_of(made.profile, thread), "python (4711) > main");
}

TEST(UnitPaths, ThreadsOfACoreHaveTheirLane) {
  ProfileBuilder made;
  const UnitId core = made.unit("core 3", Engine::core);
  const UnitId hvx = made.unit("HVX", Engine::hvx, core);
  made.profile.units[1].lane = 2;
  EXPECT_EQ(path_of(made.profile, hvx), "core 3 > HVX 2");
  EXPECT_EQ(path_of(made.profile, UnitId::none), "(no unit)");
}

TEST(UnitPaths, FiveUnitsOfACardWereAllCalledTheSameOnceShortened) {
  ProfileBuilder made;
  const UnitId card = made.unit("QAicGraph", Engine::device);
  const UnitId core = made.unit("QAicGraph_Core_3", Engine::core, card);
  made.profile.units[1].core = 3;
  const UnitId issue = made.unit("DMAIssue", Engine::dma_issue, core);
  made.profile.units[2].lane = 5;
  const UnitId dma = made.unit("DMAIssue_DMA", Engine::dma, issue);
  made.profile.units[3].lane = 5;
  EXPECT_EQ(path_of(made.profile, card), "QAicGraph");
  EXPECT_EQ(path_of(made.profile, core), "core 3");
  EXPECT_EQ(path_of(made.profile, issue), "core 3 > DMAIssue 5");
  EXPECT_EQ(path_of(made.profile, dma), "core 3 > DMA 5");

  made.unit("QAicGraph_1", Engine::device);  // two devices: now each has to be named
  EXPECT_EQ(path_of(made.profile, dma), "QAicGraph > core 3 > DMA 5");
}

}  // namespace
}  // namespace npuscope::analysis::unit_paths_test
