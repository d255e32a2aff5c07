// Which NPU a compiler's estimates are of: no file names it, but every transfer has the rate of its
// DMA.
//
//   DmaRates rates;
//   rates.take(640, 135);     // bytes, cycles: of each transfer
//   rates.device()            // "Torq SL2610"; "Torq" where that does not say
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/torq/debug/debug_info.hpp"

namespace npuscope::torq {

inline constexpr std::string_view sl2610 = "Torq SL2610", sr200 = "Torq SR200";

class DmaRates {
 public:
  void take(std::int64_t bytes, std::int64_t cycles) {
    if (bytes <= 0) return;
    // Of short ones every rate gives the same cycles.
    constexpr std::int64_t telling_bytes = 64;
    transfers_ += bytes >= telling_bytes;
    for (Target& target : targets_) {
      target.fits &= std::int64_t(std::ceil(double(bytes) / target.bytes_per_cycle)) == cycles;
    }
  }

  std::string device() const {
    constexpr std::uint64_t enough = 3;
    for (const Target& target : targets_) {
      if (target.fits && transfers_ >= enough) return std::string(target.device);
    }
    return "Torq";
  }

 private:
  struct Target {
    std::string_view device;
    double bytes_per_cycle = 0;  // 8 B, the practical share of it, bursts of 16 of 17.5 beats
    bool fits = true;
  };
  std::array<Target, 2> targets_{Target{sl2610, 8 * 0.65 * 16 / 17.5},
                                 Target{sr200, 8 * 0.33 * 16 / 17.5}};
  std::uint64_t transfers_ = 0;
};

inline void take_rates(const DispatchInfo& dispatch, DmaRates& rates) {
  for (const UnitWork& work : dispatch.work) {
    const bool has_rate = work.unit == NpuUnit::dma_in || work.unit == NpuUnit::dma_out;
    if (has_rate && work.bytes && work.duration_cycles) {
      rates.take(*work.bytes, *work.duration_cycles);
    }
  }
}

}  // namespace npuscope::torq
