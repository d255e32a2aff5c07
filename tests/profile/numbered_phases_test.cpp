#include "profile/own_traces.hpp"

#include <gmock/gmock.h>

namespace npuscope::numbered_phases_test {
namespace {

using ::testing::ElementsAre;

struct Told {
  std::int64_t number = 0;
  std::int64_t parent = -1;
};

// The parents of phases that a trace tells in this order, each of which has one or is outermost.
std::vector<std::uint32_t> parents(const std::vector<Told>& told) {
  std::vector<NumberedPhase> phases;
  for (const Told& each : told) {
    NumberedPhase phase{.number = each.number, .parent = each.parent, .phase = {}, .measures = {}};
    phase.phase.parent = outermost_phase;
    phases.push_back(phase);
  }
  Profile profile;
  add_phases(std::move(phases), profile);
  std::vector<std::uint32_t> out;
  for (const Phase& phase : profile.phases) out.push_back(phase.parent);
  return out;
}

TEST(NumberedPhases, StandInTheOrderOfTheirNumbersAndPointAtTheirParents) {
  EXPECT_THAT(parents({{7, -1}, {3, 7}, {9, 3}}), ElementsAre(1, outermost_phase, 0));
}

TEST(NumberedPhases, AParentThatIsNotThereOrARingIsNone) {
  EXPECT_THAT(parents({{0, 5}}), ElementsAre(outermost_phase));
  EXPECT_THAT(parents({{0, 0}}), ElementsAre(outermost_phase));
  EXPECT_THAT(parents({{0, 1}, {1, 2}, {2, 0}}), ElementsAre(outermost_phase, 2, 0));
}

TEST(NumberedPhases, OneWithoutAParentThatIsToldKeepsIt) {
  NumberedPhase phase;
  phase.phase.unit = UnitId(3);  // there is none
  phase.measures.push_back({Measure::Subject::phase, 77, {}});
  Profile profile;
  add_phases({phase, phase}, profile);
  EXPECT_EQ(profile.phases[1].parent, no_phase);
  EXPECT_EQ(profile.phases[1].unit, UnitId::none);
  EXPECT_EQ(profile.measures[1].subject_id, 1u);
}

}  // namespace
}  // namespace npuscope::numbered_phases_test
