#pragma once

#include <cstdint>

namespace npuscope::npu::torq {

// How many parts of a size make the whole, the last one perhaps smaller. `part` is not 0.
constexpr std::uint64_t parts_of(std::uint64_t whole, std::uint64_t part) {
  return whole / part + (whole % part != 0);
}

}  // namespace npuscope::npu::torq
