// What bounds a piece of work: the least time that each resource needs for it, against the time
// that it took.
//
//   peaks   4096 MACs a cycle, 77 GB/s                  what the hardware can do (Peaks)
//   roofs   4096 MACs and 95.5 bytes a tick             the same on the profile's clock (Roofs)
//   work    134e6 MACs, 531,456 bytes, 64,829 ticks     what was done (Work)
//
//   place_under(roofs, work)
//     bounds      HMX 32,768 ticks (50.5 %), DDR 5,565 (8.6 %)    least times, shares of the time
//     verdict     latency: no resource is busy for 65 % of the time
//     intensity   252.5 MAC per byte, ridge at 42.9               compute side
//
// The verdict is the resource with the largest share, when that is 65 % or more:
//   compute     its MACs at the peak rate
//   memory      its bytes over the DDR, or over the VTCM, at the peak rate
//   dispatch    starting its kernels: runs x the overhead of a kernel on its engine
//   compute     none of these, but its kernels keep the HVX threads (or the HMX, where MACs are not
//               known) at work for so long: an occupancy, which says nothing of a peak
//   latency     no resource is that busy: it waits, or is spread badly
// and unknown where a peak that matters is not known, or one is exceeded by a quarter.
//
// The DDR is one for all: work that moves data for 65 % of its time or more, while it and others
// together draw 65 % of the DDR's peak, is bound by the DDR too, however small its own part is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "npuscope/base/units.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope::analysis {

// How wide the numbers are that a matrix product is made of, which decides the peak.
enum class Precision : std::uint8_t { int8, fp16, fp32 };
inline constexpr std::size_t precision_count = 3;
const char* name_of(Precision precision);
// Of the types of an op's operands, as Op::types has them; fp16 where they say nothing.
Precision precision_of(std::string_view types);

// What the hardware can do, with where that is known from. None: nobody knows.
struct Peaks {
  std::string source;                              // "target aic100", "--ddr-peak"
  std::optional<double> ddr_bytes_per_s;           // of the device
  std::optional<double> ddr_bytes_per_s_per_core;  // what one core can draw of it
  std::optional<double> vtcm_bytes_per_s;          // of one core
  // Of one core, on the HMX; float32 on the HVX. A clock of cycles needs no rate for these.
  std::array<std::optional<double>, precision_count> macs_per_cycle;
  std::optional<double> macs_per_s;  // of the device, given outright: counts before those
  std::optional<double> core_hz;     // nominal, where the profile's clock is no core's
  std::optional<double> vtcm_bytes;  // capacity of one core
  std::uint32_t hvx_threads = 0;     // of one core; 0: not known
  // Cycles before a kernel works: on HVX, HMX and DMA.
  std::optional<double> hvx_dispatch_cycles, hmx_dispatch_cycles, dma_dispatch_cycles;
};

// The peaks on the base clock, for as many cores as the profile has at work.
struct Roofs {
  double seconds_per_tick = 0;  // 0: unknown
  std::uint32_t cores = 1;
  bool ddr_is_of_cores = false;  // what these cores can draw, which is less than the device has
  std::optional<double> ddr_bytes_per_tick, vtcm_bytes_per_tick;
  std::array<std::optional<double>, precision_count> macs_per_tick;
  std::optional<double> hvx_dispatch_ticks, hmx_dispatch_ticks, dma_dispatch_ticks;
};

// `rate`: of the base clock, 0 where unknown. `counts_cycles`: it is a core's own clock.
Roofs make_roofs(const Peaks& peaks, Hertz rate, bool counts_cycles, std::uint32_t cores);

struct Work {
  double ticks = 0;  // that it took
  // In which its DDR bytes may have moved, where that is longer: transfers that it started ahead.
  double ddr_ticks = 0;
  // Of `ticks`, those in which it moves data or waits for it, and does nothing else.
  double moving_ticks = 0;
  std::optional<double> ddr_bytes, vtcm_bytes;
  std::optional<double> ddr_bytes_of_all;  // that whoever it was moved meanwhile
  std::array<double, precision_count> macs{};
  bool macs_known = false;
  double hvx_ticks = 0;  // kernels at work, summed over threads
  double hmx_ticks = 0;
  std::uint32_t hvx_units = 0, hmx_units = 0;  // threads that there are
  double dispatch_ticks = 0;                   // on the unit where most of it is started

  double all_macs() const { return macs[0] + macs[1] + macs[2]; }
  // Whether it is a matter of moving data, most of the time.
  bool mostly_moves() const;
};

enum class Resource : std::uint8_t { macs, hmx, hvx, ddr, vtcm, dispatch };
inline constexpr std::size_t resource_count = 6;
const char* name_of(Resource resource);  // "MACs", "HMX busy", "DDR"

enum class RooflineVerdict : std::uint8_t { unknown, compute, memory, latency, dispatch };
const char* name_of(RooflineVerdict verdict);

struct Placement {
  // Share of the time that each resource needs at least; none: not known.
  std::array<std::optional<double>, resource_count> share;
  RooflineVerdict verdict = RooflineVerdict::unknown;
  std::optional<Resource> largest;         // with the largest share
  std::optional<double> ddr_share_of_all;  // of the DDR's peak, with what others draw meanwhile
  std::optional<double> intensity;         // MACs per DDR byte
  std::optional<double> ridge;             // above it the MACs take longer than the bytes
  std::optional<double> ddr_bytes_per_s, vtcm_bytes_per_s, macs_per_s;  // achieved

  std::optional<double> of(Resource resource) const { return share[std::size_t(resource)]; }
};

inline constexpr double bound_share = 0.65;
// Above this the time is not that of the work (the HTP draws the issue of transfers, which go on
// after it), or the peak is not the hardware's: no verdict.
inline constexpr double impossible_share = 1.25;

Placement place_under(const Roofs& roofs, const Work& work);

}  // namespace npuscope::analysis
