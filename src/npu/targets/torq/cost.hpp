// The cost model of Torq's compiler: how many cycles transfers and programs take, and when they
// begin and end if they do.
//
//   dma_cycles(364, sl2610, Direction::in)   77: ceil(364 / (8 * 0.65 * 16 / 17.5))
//   cdma_cycles(364, sl2610)                     64: ceil(364 / (16 * 0.36)), at least 1
//
//   task 0  start DMA in, 264 bytes; wait   [122, 178]
//   task 1  start slice 0, 2 cycles         [178, 179]   the slice [178, 180]
//   task 2  wait for slice 0                [179, 180]
//
// One clock walks the programs in their order; what the host does takes no time. A start of DMA or
// CDMA does not move it, a start of a slice or the CSS moves it by 1, and a wait moves it to where
// the last operation of the unit ends.
#pragma once

#include <cstdint>
#include <vector>

#include "npu/targets/torq/program.hpp"
#include "npu/targets/torq/target.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::npu::torq {

// Source: DmaProfilingUtils.cpp and ProfilingPass.cpp of synaptics-torq/torq-compiler.
std::uint64_t dma_cycles(std::uint64_t bytes, const Target& target, Direction direction);
std::uint64_t cdma_cycles(std::uint64_t bytes, const Target& target);

// Cycles, each dispatch from 0 on.
struct Estimate {
  std::vector<Interval> tasks;
  std::vector<Interval> steps;     // of those that start something: when it runs; others are empty
  std::vector<Interval> programs;  // of the NSS
  std::vector<std::int64_t> dispatches;  // where each ends
};

// Of a program that check_program takes.
Estimate estimate_times(const Program& program, const Target& target);

}  // namespace npuscope::npu::torq
