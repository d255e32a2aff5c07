// PMU events (-aic-pmu-events) and recipes (-aic-pmu-recipe) of Cloud AI 100, in one table: readers
// name their measures by it, pages and help explain by it, targets must agree with it.
//
//   find_pmu_event(0x70)->name      "HMX_ACTIVE_CYCLES", in "cycles", of Engine::hmx
//   find_pmu_event(0x55)            nullptr: unknown; it stays "pmu 0x55"
//   pmu_recipe_of({0x70, 0x71, 0x72})->name    "KernelUtil"
//
// The recipes' names are the vendor's. What its event codes mean is not public: these codes are
// those of the reference NPU, so they are of buffers, summaries and traces in npuscope's own form.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/profile/profile.hpp"

namespace npuscope {

struct PmuEventInfo {
  std::uint32_t code = 0;
  std::string_view name;
  std::string_view meaning;
  std::string_view unit;      // of one count: "cycles", "64 bytes"
  std::string_view counts;    // what the reference NPU counts, as targets/*.toml name it
  std::uint32_t divisor = 1;  // one count per this many of them
  // The engine of which these cycles are the time at work: by the cycles of its threads they are
  // its utilisation. Engine::none of other events.
  Engine engine = Engine::none;
};

struct PmuRecipeInfo {
  std::string_view name;
  std::vector<std::uint32_t> events;
};

std::span<const PmuEventInfo> pmu_events();  // by code
std::span<const PmuRecipeInfo> pmu_recipes();

const PmuEventInfo* find_pmu_event(std::uint32_t code);  // null: unknown
const PmuEventInfo* find_pmu_event(std::string_view name);
const PmuRecipeInfo* find_pmu_recipe(std::string_view name);

// The recipe that chose these events, in any order; null where none has just them.
const PmuRecipeInfo* pmu_recipe_of(std::vector<std::uint32_t> events);

// The name that readers give a count of the event (Measure::what, CounterSeries::name), "pmu
// TASKS", of an unknown one "pmu 0x55"; and the other way round, "pmu 0x90" too, as older files
// have it.
std::string pmu_measure(std::uint32_t code);
std::optional<std::uint32_t> event_of_pmu_measure(std::string_view what);

// The count of an event, under that name.
constexpr NamedNumber pmu_number(std::uint32_t code, std::string_view name) {
  NamedNumber number{name, NumberQuantity::count, NumberRole::pmu_event};
  number.event = code;
  return number;
}

// For help: "3F PROCESSOR_CYCLES, 70 HMX_ACTIVE_CYCLES, …" and "AxiRd (AXI_READ_64B), …".
std::string pmu_events_help();
std::string pmu_recipes_help();

}  // namespace npuscope
