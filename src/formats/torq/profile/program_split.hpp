// What a program did when, by the compiler's estimate: the only thing that says so, because a log
// has a program's begin and end alone. A measured time is divided in its proportions.
//
//   const auto parts = parts_of(dispatch, program);   // DMA in 0 to 135, conv2d_0 135 to 900, …
//   const auto ends = split(25'000, parts);           // 3'750, 25'000: nanoseconds of a run
//
// Each moment counts once: for what computes, else for what moves data, else for nothing. Of two
// that compute at once the one that began first has it. So the parts add up to the program.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/torq/debug/debug_info.hpp"

namespace npuscope::torq {

inline constexpr std::uint32_t no_work = ~std::uint32_t{0};

struct ProgramPart {
  std::uint32_t work = no_work;  // in DispatchInfo::work; no_work: no unit is at work
  Interval cycles{};             // of length 0 where others hide all of it
};

// In the order of time; their lengths add up to that of the program. Empty without an estimate. All
// that the program starts or waits for is in some part, be it of length 0.
std::vector<ProgramPart> parts_of(const DispatchInfo& dispatch, const ProgramRun& program);

// When each part ends, counted from the program's begin, if the program takes `ticks`: they never
// decrease, and the last is `ticks`.
std::vector<std::int64_t> split(std::int64_t ticks, std::span<const ProgramPart> parts);

}  // namespace npuscope::torq
