// What hardware counters (PMU events) counted, each with its name, unit and meaning:
//
//   const Pmu pmu = analyse_pmu(profile);
//   pmu.recipe              KernelUtil: the events that were counted are those of this recipe
//   for (const PmuRow& row : pmu.rows) …
//       HMX_ACTIVE_CYCLES   25,410 cycles, 41.3 % of the cycles of the HMX threads
//           core 0          12,600, 41.1 %
//
// Counts are sums over threads and inferences. A share is stated for events that count cycles in
// which an engine works, where the cycles of its threads were recorded too.
#pragma once

#include <optional>
#include <vector>

#include "profile/pmu_events.hpp"

namespace npuscope::analysis {

struct PmuCount {
  double count = 0;
  std::optional<double> cycles = {};  // of the threads of the event's engine

  std::optional<double> share() const {
    return cycles && *cycles > 0 ? std::optional(count / *cycles) : std::nullopt;
  }
};

struct PmuCore {
  UnitId core = UnitId::none;
  PmuCount value;
};

struct PmuRow {
  std::uint32_t code = 0;
  const PmuEventInfo* event = nullptr;  // null: unknown
  PmuCount value = {};                  // of all cores
  std::vector<PmuCore> cores = {};      // in the profile's order
};

struct Pmu {
  const PmuRecipeInfo* recipe = nullptr;  // null: the events are not those of one
  std::vector<PmuRow> rows;               // by code
};

Pmu analyse_pmu(const Profile& profile);

}  // namespace npuscope::analysis
