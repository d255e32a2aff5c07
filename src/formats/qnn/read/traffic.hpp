// Bytes that an op moves, as QHAS and HTP_GRAPH name them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "npuscope/profile/profile.hpp"

namespace npuscope::qnn {

inline constexpr std::int64_t missing = MeasureColumn::missing;

struct Traffic {
  static constexpr std::size_t kinds = 4;
  static constexpr std::array<std::string_view, kinds> qhas_keys{"dram_read", "dram_write",
                                                                 "vtcm_read", "vtcm_write"};
  static constexpr std::array<std::string_view, kinds> graph_keys{
      "mem_dram_read", "mem_dram_write", "mem_vtcm_read", "mem_vtcm_write"};

  std::array<std::int64_t, kinds> bytes{missing, missing, missing, missing};
};

}  // namespace npuscope::qnn
