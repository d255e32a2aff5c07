// Sections that several documents have: the warm call, hardware counters, how many were at work at
// once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/units/pmu.hpp"
#include "npuscope/analysis/call.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// The warm call of the network, layer by layer, as a section of any document.

Section call_section(const analysis::Call& call);

// What hardware counters counted, by name, unit and meaning, as sections of any document.

// "PMU COUNTERS, recipe KernelUtil".
std::string pmu_title(const analysis::Pmu& pmu);

// Words of an event in outputs; "unknown" where the table has none.
std::string pmu_name(const analysis::PmuRow& row);
std::string pmu_code(const analysis::PmuRow& row);  // "0x70"
std::string pmu_unit(const analysis::PmuRow& row);
std::string pmu_meaning(const analysis::PmuRow& row);

Section pmu_section(const analysis::Pmu& pmu);                                // a row per event
Section pmu_cores_section(const Profile& profile, const analysis::Pmu& pmu);  // and core

// How long so many were at work at once, with levels together as there get more of them: 0, 1, 2,
// 3, 4 to 7, 8 to 15, …
struct LevelsAtOnce {
  std::string label;  // "none", "3", "4 to 7"
  std::int64_t time = 0;
};

// Of the time at each number from 0 on; without those that there was no time at.
std::vector<LevelsAtOnce> concurrency_histogram(const std::vector<std::int64_t>& time_at);

}  // namespace npuscope::report
