#include "profile/pmu_events.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/numbers.hpp"

namespace npuscope {

std::span<const PmuEventInfo> pmu_events() {
  static constexpr std::array events{
      PmuEventInfo{0x3F, "PROCESSOR_CYCLES", "cycles of the core's clock while the thread runs",
                   "cycles", "cycles"},
      PmuEventInfo{0x70, "HMX_ACTIVE_CYCLES", "cycles in which the matrix unit works", "cycles",
                   "hmx_cycles", 1, Engine::hmx},
      PmuEventInfo{0x71, "HVX_ACTIVE_CYCLES", "cycles in which a vector thread works", "cycles",
                   "hvx_cycles", 1, Engine::hvx},
      PmuEventInfo{0x72, "UDMA_ACTIVE_CYCLES",
                   "cycles for which transfers stream, on the DMAIssue thread", "cycles",
                   "dma_cycles", 1, Engine::dma_issue},
      PmuEventInfo{0x80, "HMX_MACS_PER_4096", "multiply-accumulates of the matrix unit",
                   "4,096 MACs", "hmx_macs", 4096},
      PmuEventInfo{0x90, "TASKS", "kernels and transfers that the thread took part in", "tasks",
                   "tasks"},
      PmuEventInfo{0x200, "AXI_READ_64B", "what is read from DDR", "64 bytes", "ddr_read_bytes",
                   64},
      PmuEventInfo{0x201, "AXI_WRITE_64B", "what is written to DDR", "64 bytes", "ddr_write_bytes",
                   64},
      PmuEventInfo{0x210, "MULTICAST_64B", "what is sent to the VTCM of other cores", "64 bytes",
                   "multicast_bytes", 64}};
  return events;
}

std::span<const PmuRecipeInfo> pmu_recipes() {
  static const std::array recipes{PmuRecipeInfo{"AxiRd", {0x200}}, PmuRecipeInfo{"AxiWr", {0x201}},
                                  PmuRecipeInfo{"AxiRdWr", {0x200, 0x201}},
                                  PmuRecipeInfo{"KernelUtil", {0x70, 0x71, 0x72}},
                                  PmuRecipeInfo{"HmxMacs", {0x80, 0x70}}};
  return recipes;
}

const PmuEventInfo* find_pmu_event(std::uint32_t code) {
  for (const PmuEventInfo& event : pmu_events()) {
    if (event.code == code) return &event;
  }
  return nullptr;
}

const PmuEventInfo* find_pmu_event(std::string_view name) {
  for (const PmuEventInfo& event : pmu_events()) {
    if (event.name == name) return &event;
  }
  return nullptr;
}

const PmuRecipeInfo* find_pmu_recipe(std::string_view name) {
  for (const PmuRecipeInfo& recipe : pmu_recipes()) {
    if (recipe.name == name) return &recipe;
  }
  return nullptr;
}

const PmuRecipeInfo* pmu_recipe_of(std::vector<std::uint32_t> events) {
  std::sort(events.begin(), events.end());
  for (const PmuRecipeInfo& recipe : pmu_recipes()) {
    std::vector<std::uint32_t> of_recipe = recipe.events;
    std::sort(of_recipe.begin(), of_recipe.end());
    if (of_recipe == events) return &recipe;
  }
  return nullptr;
}

std::string pmu_measure(std::uint32_t code) {
  const PmuEventInfo* const known = find_pmu_event(code);
  return known != nullptr ? fmt::format("pmu {}", known->name) : fmt::format("pmu 0x{:x}", code);
}

std::optional<std::uint32_t> event_of_pmu_measure(std::string_view what) {
  constexpr std::string_view start = "pmu ", of_code = "pmu 0x";
  if (!what.starts_with(start)) return std::nullopt;
  const PmuEventInfo* const known = find_pmu_event(what.substr(start.size()));
  if (known != nullptr) return known->code;
  if (!what.starts_with(of_code)) return std::nullopt;
  return parse_number<std::uint32_t>(what.substr(of_code.size()), 16);
}

std::string pmu_events_help() {
  std::vector<std::string> words;
  for (const PmuEventInfo& event : pmu_events()) {
    words.push_back(fmt::format("{:X} {}", event.code, event.name));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string pmu_recipes_help() {
  std::vector<std::string> words;
  for (const PmuRecipeInfo& recipe : pmu_recipes()) {
    std::vector<std::string_view> names;
    for (const std::uint32_t code : recipe.events) names.push_back(find_pmu_event(code)->name);
    words.push_back(fmt::format("{} ({})", recipe.name, fmt::join(names, ", ")));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace npuscope
