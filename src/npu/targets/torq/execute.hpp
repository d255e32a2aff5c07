// A program for a Torq NPU executed: what its runtime would log, and what really happened.
//
//   auto run = run(*program, *torq, {.inferences = 3});
//   npuscope::torq::write_log(run->log, "runtime.csv");
//   run->truth.inferences[0]        begin and end, nanoseconds
//   run->truth.programs[4].device   what each unit did, cycles
//
// The same tables that the estimate walks are executed with what a device does beyond the cost
// model: transfers have latency and share XRAM, the NSS takes cycles for its steps, slices start up
// and stall, the CSS computes for as long as its data need, the host calls and is woken. Every
// inference is the same; programs follow each other, as the runtime waits for each.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/torq/runtime_log.hpp"
#include "npu/targets/torq/program.hpp"
#include "npu/targets/torq/target.hpp"
#include "npuscope/profile/intervals.hpp"

namespace npuscope::npu::torq {

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

// Units whose time is told: two slices, DMA each way, CDMA, CSS.
enum class BusyUnit : std::uint8_t { slice_0, slice_1, dma_in, dma_out, cdma, css };
inline constexpr std::size_t busy_units = 6;

// Of a program of the NSS, alone on the NPU; cycles.
struct DeviceRun {
  std::int64_t cycles = 0;                        // first step to last
  std::array<std::int64_t, busy_units> busy{};    // by BusyUnit
  std::array<std::int64_t, busy_units> waited{};  // that the NSS spent waiting for it
  std::int64_t both_ways = 0;                     // DMA in and out at once, sharing XRAM
};
std::vector<DeviceRun> run_device(const Program& program, const Target& target);

struct ProgramTruth {
  std::uint32_t dispatch = 0;
  std::uint32_t start_action = 0;  // the wait is the next
  DeviceRun device;
  std::int64_t host_nanoseconds = 0;  // from the begin of the start to the end of the wait
};

struct Truth {
  std::vector<ProgramTruth> programs;      // of the NSS
  std::int64_t host_copy_nanoseconds = 0;  // of one inference
  std::int64_t host_program_nanoseconds = 0;
  std::vector<Interval> inferences;  // nanoseconds of the runtime's clock
};

struct Run {
  npuscope::torq::RuntimeLog log;
  Truth truth;
};

struct RunOptions {
  std::uint64_t inferences = 1;
  bool log = true;  // false: truth only
};

// An input error where the program does not fit the target; a usage error where the log would have
// more than 20 million rows.
Result<Run> run(const Program& program, const Target& target, const RunOptions& options);

}  // namespace npuscope::npu::torq
