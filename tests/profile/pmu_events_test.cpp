// One table of PMU events: what readers call them, what documents say of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "profile/pmu_events.hpp"

namespace npuscope::pmu_events_test {
namespace {

// Cells of the rows of docs/cli.md that begin with an event's code, by it.
std::map<std::uint32_t, std::vector<std::string>> documented_events() {
  std::map<std::uint32_t, std::vector<std::string>> rows;
  std::ifstream file(NPUSCOPE_SOURCE_DIR "/docs/cli.md");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| 0x")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = line.find('|', at);
      std::string cell = line.substr(at, end - at);
      const std::size_t first = cell.find_first_not_of(' ');
      cells.push_back(
          first == cell.npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
      at = end == line.npos ? line.size() : end + 1;
    }
    rows[std::uint32_t(std::stoul(cells[0], nullptr, 16))] = cells;
  }
  return rows;
}

TEST(PmuEvents, InTheDocumentsAreThoseOfTheTable) {
  const auto rows = documented_events();
  ASSERT_EQ(rows.size(), pmu_events().size());
  for (const PmuEventInfo& event : pmu_events()) {
    ASSERT_TRUE(rows.contains(event.code)) << event.name;
    std::string recipes;
    for (const PmuRecipeInfo& recipe : pmu_recipes()) {
      const bool has =
          std::find(recipe.events.begin(), recipe.events.end(), event.code) != recipe.events.end();
      if (has) recipes += (recipes.empty() ? "" : ", ") + std::string(recipe.name);
    }
    const std::vector<std::string> expected{fmt::format("0x{:X}", event.code),
                                            std::string(event.name), std::string(event.meaning),
                                            std::string(event.unit), recipes};
    EXPECT_EQ(rows.at(event.code), expected);
  }
}

TEST(PmuEvents, WereCalledByTheirCodesInMeasures) {
  EXPECT_EQ(pmu_measure(0x70), "pmu HMX_ACTIVE_CYCLES");
  EXPECT_EQ(event_of_pmu_measure("pmu HMX_ACTIVE_CYCLES"), 0x70u);
  EXPECT_EQ(event_of_pmu_measure("pmu 0x70"), 0x70u) << "as older files have it";
  EXPECT_FALSE(event_of_pmu_measure("pmu HMX"));
}

TEST(PmuEvents, ThatAreUnknownKeepTheirCode) {
  EXPECT_EQ(find_pmu_event(0x55), nullptr);
  EXPECT_EQ(pmu_measure(0x55), "pmu 0x55");
}

TEST(PmuRecipes, AreRecognisedByTheirEventsInAnyOrder) {
  for (const PmuRecipeInfo& recipe : pmu_recipes()) {
    std::vector<std::uint32_t> events(recipe.events.rbegin(), recipe.events.rend());
    EXPECT_EQ(pmu_recipe_of(events), &recipe);
    events.push_back(0x55);
    EXPECT_EQ(pmu_recipe_of(events), nullptr);
    for (const std::uint32_t code : recipe.events) EXPECT_NE(find_pmu_event(code), nullptr);
  }
}

}  // namespace
}  // namespace npuscope::pmu_events_test
