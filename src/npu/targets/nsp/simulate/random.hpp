// Counter-based randomness: a value depends on what it is for, never on when it is drawn, so that
// results do not depend on the order of events.
#pragma once

#include <cstdint>

namespace npuscope::npu::nsp {

// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit changes half the output bits.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

template <class... Counters>
constexpr std::uint64_t key_of(std::uint64_t seed, Counters... counters) {
  std::uint64_t key = mix(seed);
  ((key = mix(key ^ std::uint64_t(counters))), ...);
  return key;
}

// Close to normal, mean 0, standard deviation 1, within +-3.47: the sum of four uniform variables
// (Irwin-Hall). Only additions and one product, hence the same bits on every machine.
constexpr double normal(std::uint64_t bits) {
  constexpr double square_root_of_3 = 1.7320508075688772;
  const std::int64_t sum =
      std::int64_t((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
  return double(sum - 2 * 0xffff) * (square_root_of_3 / 0xffff);
}

// Uses of the seed that must not share values.
enum class RandomUse : std::uint64_t {
  kernel = 1,
  core_clock,
  core_timer,
  activation,
  port,
  boot,
  session
};

}  // namespace npuscope::npu::nsp
