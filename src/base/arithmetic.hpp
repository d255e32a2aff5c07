// Division of counts, rounded up.
#pragma once

#include <cstdint>

namespace npuscope {

constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// The next multiple of `multiple`, or the value itself where it is one.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return divide_up(value, multiple) * multiple;
}

}  // namespace npuscope
