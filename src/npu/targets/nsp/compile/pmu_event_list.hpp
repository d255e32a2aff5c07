// The list of -aic-pmu-events.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"

namespace npuscope::npu::nsp {

// "3F,70,200": 1 to 8 events by hexadecimal code, with or without 0x, or by name.
Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list);

}  // namespace npuscope::npu::nsp
