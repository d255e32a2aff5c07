// Which events of the PMU a program counts: -aic-pmu-events and -aic-pmu-recipe.
#include <fmt/ranges.h>
#include <algorithm>

#include "base/numbers.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "profile/pmu_events.hpp"

namespace npuscope::npu::nsp {
Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list) {
  std::vector<std::uint32_t> codes;
  for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + 1) {
    end = list.find(',', at);
    std::string_view part = list.substr(at, end - at);
    if (const PmuEventInfo* known = find_pmu_event(part)) {
      codes.push_back(known->code);
      continue;
    }
    if (part.starts_with("0x") || part.starts_with("0X")) part.remove_prefix(2);
    const auto code = parse_number<std::uint32_t>(part, 16);
    if (!code) {
      return usage_error(
          "-aic-pmu-events={}: '{}' is neither the name nor the hexadecimal code of an event", list,
          part);
    }
    codes.push_back(*code);
  }
  if (codes.size() > 8) {
    return usage_error("-aic-pmu-events={}: {} events; the hardware counts at most 8 at once", list,
                       codes.size());
  }
  return codes;
}

Status choose_pmu_events(const Target& target, const std::string& recipe, CompileOptions& options,
                         std::vector<std::string>& warnings) {
  if (!recipe.empty()) {
    const auto found = target.pmu_recipes.find(recipe);
    if (found == target.pmu_recipes.end()) {
      std::vector<std::string> names;
      for (const auto& [name, codes] : target.pmu_recipes) names.push_back(name);
      return usage_error("-aic-pmu-recipe={}: {} has {}", recipe, target.name,
                         fmt::join(names, ", "));
    }
    options.pmu_events = found->second;
  }
  for (std::uint32_t code : options.pmu_events) {
    const bool known = std::ranges::any_of(
        target.pmu_events, [&](const PmuEvent& event) { return event.code == code; });
    if (!known) {
      warnings.push_back(fmt::format("PMU event 0x{:X} is not in {}'s table; it will count nothing",
                                     code, target.name));
    }
  }
  return {};
}

}  // namespace npuscope::npu::nsp
