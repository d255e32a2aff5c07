// What hardware counters counted, by name, unit and meaning, as sections of any document.
#pragma once

#include "analysis/units/pmu.hpp"
#include "report/document/document.hpp"

namespace npuscope::report {

// "PMU COUNTERS, recipe KernelUtil".
std::string pmu_title(const analysis::Pmu& pmu);

// Words of an event in outputs; "unknown" where the table has none.
std::string pmu_name(const analysis::PmuRow& row);
std::string pmu_code(const analysis::PmuRow& row);  // "0x70"
std::string pmu_unit(const analysis::PmuRow& row);
std::string pmu_meaning(const analysis::PmuRow& row);

Section pmu_section(const analysis::Pmu& pmu);                                // a row per event
Section pmu_cores_section(const Profile& profile, const analysis::Pmu& pmu);  // and core

}  // namespace npuscope::report
