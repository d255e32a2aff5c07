// The IEEE 754 binary16 bit pattern nearest to a number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace npuscope::npu::models {

// |value| must be below 65520, where rounding to infinity starts.
inline std::uint16_t float16_bits(double value) {
  constexpr int mantissa_bits = 10;
  constexpr int smallest_exponent = -14;  // of a normal number; below, the mantissa shrinks
  const int sign = std::signbit(value) ? 1 << 15 : 0;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return std::uint16_t(sign);
  const int exponent = std::max(std::ilogb(magnitude), smallest_exponent);
  // Has its leading one at bit 10 when normal; rounding up to 2048 carries into the exponent.
  const int mantissa = int(std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent)));
  return std::uint16_t(sign + ((exponent - smallest_exponent) << mantissa_bits) + mantissa);
}

}  // namespace npuscope::npu::models
