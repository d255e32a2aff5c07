#include "analysis/units/unit_numbers.hpp"
#include "npuscope/analysis/analysis.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/profile_builder.hpp"
#include "npuscope/analysis/coarse.hpp"
#include "number_meaning.hpp"

namespace npuscope::analysis::unit_numbers_test {
namespace {

using npuscope::test_support::ProfileBuilder;
using ::testing::ElementsAre;

void add(ProfileBuilder& made, UnitId unit, std::string_view what, MeasureKind kind, double value,
         std::uint32_t instance = every_instance) {
  made.profile.measures.push_back({Measure::Subject::unit, index_of(unit), made.text(what), kind,
                                   Origin::measured, test_support::meaning_of(kind, what),
                                   ClockId{}, value, instance});
}

std::vector<std::string> rows_of(const Profile& profile, const UnitNumbers& table) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < table.row_count(); ++i) {
    std::string row(profile.text(profile.units[index_of(table.row(i).front().unit)].name));
    for (const UnitNumber& each : table.row(i)) {
      row += fmt::format("; {} {}", table.columns[each.column].name, each.value);
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(UnitNumbers, BeginWithTheFramesOfWholeInferencesAndHowBusyAUnitWas) {
  ProfileBuilder made("UTIMER", ClockKind::timer, 19.2e6);
  const UnitId core = made.unit("core", Engine::core), thread = made.unit("HVX", Engine::hvx, core);
  made.span(core, "", 0, 19'200, SpanKind::inference);
  made.span(thread, "", 0, 9'600, SpanKind::inference);
  made.span(thread, "", -5, 0, SpanKind::activation);
  made.profile.spans.processor_cycles = {1'000'000, -1, -1};
  add(made, thread, "sync wait", MeasureKind::work, 7);
  add(made, thread, "utilization percent", MeasureKind::count, 62.5);
  add(made, core, "ddr read bytes", MeasureKind::count, 0);
  const UnitNumbers table = analyse_unit_numbers(made.profile);
  EXPECT_THAT(rows_of(made.profile, table),
              ElementsAre("core; inference 19200; processor cycles 1000000; effective frequency "
                          "(Hz) 1000000000; ddr read bytes 0",
                          "HVX; inference 9600; utilization percent 62.5; sync wait 7"));
  EXPECT_EQ(table.columns[1].origin, Origin::counter);
  EXPECT_EQ(table.columns[2].origin, Origin::derived);
}

TEST(UnitNumbers, OfSeveralInferencesAreTheMedianOfThoseAfterTheFirst) {
  ProfileBuilder made;
  const UnitId unit = made.unit("lane", Engine::hmx);
  for (const auto& [instance, value] : {std::pair{2u, 30.0}, {0u, 900.0}, {1u, 10.0}}) {
    add(made, unit, "busy", MeasureKind::unit_busy, value, instance);
  }
  EXPECT_THAT(rows_of(made.profile, analyse_unit_numbers(made.profile)),
              ElementsAre("lane; busy 20"));
}

TEST(UnitNumbers, NumbersOfUnitsThatAreNotThereAndColumnsBeyondTheMostAreLeftOut) {
  ProfileBuilder made;
  const UnitId unit = made.unit("u", Engine::other);
  add(made, UnitId{7}, "lost", MeasureKind::count, 1);
  for (int i = 0; i < 70; ++i) add(made, unit, fmt::format("event {}", i), MeasureKind::count, i);
  const UnitNumbers table = analyse_unit_numbers(made.profile);
  ASSERT_EQ(table.row_count(), 1u);
  EXPECT_EQ(table.row(0).size(), 64u);
  EXPECT_EQ(table.columns_left, 6u);
}

TEST(UnitNumbers, OfAnEmptyProfileAreNone) {
  EXPECT_EQ(analyse_unit_numbers(Profile{}).row_count(), 0u);
}

TEST(InferencesPerSecond, AreOfWholeBatchesOneAfterAnotherWhereTheClockHasARate) {
  ProfileBuilder made("UTIMER", ClockKind::timer, 1'000);
  made.span(made.unit("core", Engine::core), "", 0, 500, SpanKind::inference);
  made.profile.spans.instance = {0};
  const auto rate = [&] { return Analysis(made.profile).coarse().inferences_per_second; };
  EXPECT_EQ(rate(), 2);
  made.profile.measures.push_back({Measure::Subject::profile, 0, made.text("stats batch size"),
                                   MeasureKind::count, Origin::measured,
                                   test_support::meaning_of(MeasureKind::count, "stats batch size"),
                                   ClockId{}, 8});
  EXPECT_EQ(rate(), 16);
  made.profile.clocks[0].rate = Hertz{0};
  EXPECT_EQ(rate(), std::nullopt);
}

}  // namespace
}  // namespace npuscope::analysis::unit_numbers_test
