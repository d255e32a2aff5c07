// Strong units: a count of cycles is not a count of timer ticks is not a count of bytes, and the
// compiler says so. Conversions exist only where a frequency is known.
//
//   Ticks wait{30711};
//   double us = to_microseconds(wait, aic_utimer);   // 1599.53
#pragma once

#include <compare>
#include <cstdint>

namespace npuscope {

template <class Tag>
struct Quantity {
  std::int64_t value = 0;

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t factor) {
    return {a.value * factor};
  }
};

using Cycles = Quantity<struct CyclesTag>;  // of a processor core's clock
using Ticks = Quantity<struct TicksTag>;    // of a fixed-rate timer
using Nanoseconds = Quantity<struct NanosecondsTag>;
using Picoseconds = Quantity<struct PicosecondsTag>;  // simulated time
using Bytes = Quantity<struct BytesTag>;

struct Hertz {
  double value = 0;
  constexpr auto operator<=>(const Hertz&) const = default;
};

// The Cloud AI 100's UTIMER runs at 19.2 MHz (quic/software-kit-for-qualcomm-cloud-ai-100-cc,
// runtime/lib/AICDefsInternal.h: UTimerFreqMS = 19200).
inline constexpr Hertz aic_utimer{19.2e6};

constexpr double to_microseconds(Ticks t, Hertz rate) { return double(t.value) / rate.value * 1e6; }
constexpr double to_seconds(Ticks t, Hertz rate) { return double(t.value) / rate.value; }

}  // namespace npuscope
