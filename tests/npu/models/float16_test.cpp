#include "npu/models/onnx_builder.hpp"

#include <gtest/gtest.h>

namespace npuscope::npu::models::float16_test {
namespace {

// IEEE 754 binary16, decoded from its definition.
double value_of(int bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits >> 15 != 0 ? -magnitude : magnitude;
}

TEST(Float16, EveryFiniteNumberIsItself) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    if ((bits >> 10 & 31) == 31) continue;  // infinities and NaNs
    ASSERT_EQ(float16_bits(value_of(bits)), bits);
  }
}

TEST(Float16, RoundsToTheNearestAndTiesToEven) {
  for (int bits = 0; bits + 1 < 31 << 10; ++bits) {
    const double low = value_of(bits), high = value_of(bits + 1);
    ASSERT_EQ(float16_bits((low * 3 + high) / 4), bits);
    ASSERT_EQ(float16_bits((low + high * 3) / 4), bits + 1);
    ASSERT_EQ(float16_bits((low + high) / 2), bits % 2 == 0 ? bits : bits + 1);
  }
}

}  // namespace
}  // namespace npuscope::npu::models::float16_test
