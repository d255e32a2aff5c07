#include "npuscope/analysis/run_sets.hpp"
#include "number_meaning.hpp"

#include <gtest/gtest.h>

namespace npuscope::analysis::join_runs_test {
namespace {

// A span of 10 ticks of the op "conv" on each of two units, in one inference that begins at
// `begin`.
Profile sample(std::uint32_t inference, std::int64_t begin) {
  Profile profile;
  const auto text = [&](const std::string& of) { return profile.strings.intern(of); };
  text("strings of " + std::to_string(inference));  // so that ids differ
  profile.provenance = {.files = {"inf-" + std::to_string(inference) + ".bin", "programqpc.bin"},
                        .format = "raw",
                        .version = {},
                        .device = "card",
                        .target = {},
                        .graph = "net",
                        .instrumentation = {},
                        .inferences = 1};
  profile.clocks = {{text("timer"), ClockKind::timer, Hertz{1e6}, false, 0}};
  profile.ops.resize(1);
  profile.ops[0].name = text("conv");
  for (std::uint32_t unit = 0; unit < 2; ++unit) {
    profile.units.push_back({0, unit, Engine::hmx, 0, text("HMX")});
    profile.spans.unit.push_back(UnitId{unit});
    profile.spans.op.push_back(OpId{0});
    profile.spans.kind.push_back(SpanKind::op);
    profile.spans.start.push_back(begin);
    profile.spans.duration.push_back(10);
    profile.spans.instance.push_back(inference);
  }
  profile.measures.push_back({Measure::Subject::unit,
                              1,
                              text("port wait"),
                              MeasureKind::active,
                              Origin::measured,
                              test_support::meaning_of(MeasureKind::active, "port wait"),
                              {},
                              5.0});
  profile.add_measure(Measure::Subject::profile, 0,
                      {"activation", NumberQuantity::count, NumberRole::activation},
                      Origin::measured, {}, 0);
  return profile;
}

std::vector<Profile> joined(std::initializer_list<Profile> samples) {
  return join_runs(std::vector<Profile>(samples));
}

TEST(JoinRuns, OfOneProgramAreInferencesOfOneProfile) {
  const auto profiles = joined({sample(2, 200), sample(0, 0), sample(1, 100)});
  ASSERT_EQ(profiles.size(), 1u);
  const Profile& whole = profiles[0];
  EXPECT_EQ(whole.provenance.inferences, 3u);
  EXPECT_EQ(whole.provenance.files,
            (std::vector<std::string>{"inf-0.bin", "programqpc.bin", "inf-1.bin", "inf-2.bin"}));
  ASSERT_EQ(whole.spans.size(), 6u);
  EXPECT_EQ(whole.ops.size(), 1u);
  for (std::size_t row = 0; row < 6; ++row) {
    EXPECT_EQ(whole.spans.instance[row], row / 2);
    EXPECT_EQ(whole.spans.start[row], std::int64_t(row / 2 * 100));
  }
  ASSERT_EQ(whole.measures.size(), 4u);  // the wait of each, and the program's one number
  for (const Measure& measure : whole.measures) {
    if (measure.subject != Measure::Subject::unit) continue;
    EXPECT_EQ(whole.text(measure.what), "port wait");
    EXPECT_LT(measure.instance, 3u);
  }
}

// `show` left the first apart as cold, `diff` and `diagnose` did not.
TEST(JoinRuns, SamplesOfALaterPartOfTheRunAreWarm) {
  using Temperature = Provenance::Temperature;
  EXPECT_EQ(joined({sample(5, 0), sample(6, 100)})[0].provenance.temperature, Temperature::warm);
  EXPECT_EQ(joined({sample(0, 0), sample(1, 100)})[0].provenance.temperature, Temperature::unknown);
}

TEST(JoinRuns, StayByThemselvesWhereTheyAreNotAlike) {
  Profile other_program = sample(1, 100);
  other_program.provenance.graph = "other";
  Profile other_op = sample(1, 100);
  other_op.ops[0].name = other_op.strings.intern("pool");
  Profile other_activation = sample(1, 100);
  other_activation.measures.back().value = 1;
  Profile several = sample(1, 100);
  several.spans.instance[1] = 3;
  Profile unknown = sample(1, 100);
  unknown.spans.instance.clear();
  Profile same_number = sample(0, 100);
  Profile at_the_same_time = sample(1, 5);
  Profile backwards = sample(1, -100);
  for (const Profile& other : {other_program, other_op, other_activation, several, unknown,
                               same_number, at_the_same_time, backwards, Profile()}) {
    const auto profiles = joined({sample(0, 0), other});
    ASSERT_EQ(profiles.size(), 2u);
    EXPECT_EQ(profiles[0].spans.size(), 2u);
    EXPECT_EQ(profiles[0].measures[0].instance, every_instance);
    EXPECT_EQ(profiles[1].spans.size(), other.spans.size());
  }
  EXPECT_TRUE(join_runs({}).empty());
}

// The cores of a device go on one by one, so that one inference ended a tick after the next had
// begun: three of four buffers were one profile, and a quarter of its wall looked idle.
TEST(JoinRuns, InferencesThatOverlapOnDifferentUnitsStayedApart) {
  Profile late_core = sample(1, 10);
  late_core.spans.start[1] = 12;
  Profile next = sample(2, 20);
  next.spans.start[1] = 22;
  const auto profiles = joined({sample(0, 0), late_core, next});
  ASSERT_EQ(profiles.size(), 1u);
  EXPECT_EQ(profiles[0].provenance.inferences, 3u);
  next.spans.start[1] = 21;  // before the same unit had done
  EXPECT_EQ(joined({sample(0, 0), late_core, next}).size(), 2u);
}

}  // namespace
}  // namespace npuscope::analysis::join_runs_test
