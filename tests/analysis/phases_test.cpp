// Phases whose parents are given, not found by time.
#include "npuscope/analysis/phases.hpp"

#include <gtest/gtest.h>

#include "analysis/profile_builder.hpp"

namespace npuscope::analysis::phases_test {
namespace {

using npuscope::test_support::ProfileBuilder;

// "VTCM" begins with "call" on another unit, "compose" touches both by time alone.
TEST(PhasesWithParents, NestAcrossUnitsAndNotByTimesThatAreMadeUp) {
  ProfileBuilder made;
  const UnitId device = made.unit("HTP", Engine::device);
  made.phase("VTCM", 0, 0, 50, 0.05);
  made.phase("accelerator", 0, 0, 4'334, 4.334);
  made.phase("call", 0, 0, 7'784, 7.784);
  made.phase("compose", 0, 0, 0, 0);
  std::vector<Phase>& phases = made.profile.phases;
  for (std::size_t i = 0; i < 2; ++i) phases[i].unit = device;
  phases[0].parent = 1;
  phases[1].parent = 2;
  phases[2].parent = phases[3].parent = outermost_phase;
  const auto rows = analyse_phases(made.profile);
  ASSERT_EQ(rows.size(), 4u);
  const auto expect = [&](std::size_t row, std::string_view name, std::uint32_t depth,
                          double self) {
    EXPECT_EQ(made.profile.text(rows[row].name), name);
    EXPECT_EQ(rows[row].depth, depth) << name;
    EXPECT_EQ(rows[row].self_ticks.first, self) << name;
  };
  const std::size_t compose = made.profile.text(rows[0].name) == "compose" ? 0 : 3;
  const std::size_t call = compose == 0 ? 1 : 0;
  expect(compose, "compose", 0, 0);
  expect(call, "call", 0, 3'450);
  EXPECT_NEAR(rows[call].self_microseconds.first, 3.45, 1e-9);
  expect(call + 1, "accelerator", 1, 4'284);
  expect(call + 2, "VTCM", 2, 50);
}

TEST(PhasesWithParents, ThatGoRoundInACircleOrAreNotThereAreStillListed) {
  ProfileBuilder made;
  for (const char* name : {"a", "b", "c", "d"}) made.phase(name, 0, 0, 10);
  std::vector<Phase>& phases = made.profile.phases;
  phases[0].parent = 1;
  phases[1].parent = 0;
  phases[2].parent = 2;
  phases[3].parent = 1'000;
  EXPECT_EQ(analyse_phases(made.profile).size(), 4u);
}

}  // namespace
}  // namespace npuscope::analysis::phases_test
