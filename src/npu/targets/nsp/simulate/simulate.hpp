// Discrete-event execution of a Program on a Target: tile by tile, and out come the bytes that a
// device would write. Same program, target and options: same bytes.
//
//   SimulationOptions options;
//   options.activations = 2;
//   auto result = simulate(program, target, options);
//   for (const SimulatedInference& inference : result->inferences) write(inference.stats_buffer);
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/stats/stats_buffer.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/base/progress.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/base/units.hpp"
#include "npuscope/npu/nsp/simulate/run.hpp"

namespace npuscope::npu::nsp {

// What really happened, at the simulator's own resolution; never seen by a decoder.
struct TaskTruth {
  std::uint32_t task = 0;    // index in Program::tasks
  std::uint32_t thread = 0;  // of the core
  Picoseconds sync_begin{};
  Picoseconds start{};
  Picoseconds kernel_end{};
  Picoseconds barrier_end{};
  Picoseconds transfer_end{};  // = kernel_end without an asynchronous transfer
};

// What a device writes down of one op on one thread when it traces ops. Cycles are absolute, of the
// core's own counter.
struct OpTraceRecord {
  static constexpr std::uint32_t nothing = ~0u;
  std::uint32_t task = 0;  // index in Program::tasks
  std::uint32_t thread = 0;
  // The transfer that it waited for last, as index in Program::tasks; nothing: for none.
  std::uint32_t waited_for = nothing;
  std::uint32_t packets = 0;      // instruction packets of the kernel
  std::uint32_t polls = 0;        // of the wait
  std::uint64_t wait_cycle = 0;   // the thread was free
  std::uint64_t start_cycle = 0;  // of the kernel
  std::uint64_t end_cycle = 0;    // of the kernel
  std::uint64_t leave_cycle = 0;  // of telling others that it is complete
};

// One phase of a call to a device that has sessions, by the device's timer and cycle counter.
struct SessionPhase {
  std::string_view name;  // "QNN DSP Execute"; of static storage
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint64_t start_cycles = 0;
  std::uint64_t end_cycles = 0;
};

struct SimulatedInference {
  std::uint32_t activation = 0;
  std::uint64_t number = 0;
  std::uint32_t in_queue = 0;  // inferences of the activation with the host, this included
  bool sampled = false;
  bool is_output = false;
  Picoseconds queued{};        // by the application
  Picoseconds taken{};         // by a thread of the host, which prepares its inputs
  Picoseconds prepared{};      // then it is handed over
  Picoseconds submitted{};     // by the host
  Picoseconds input_sent{};    // begins to move over the link
  Picoseconds input_ready{};   // in device memory
  Picoseconds device_begin{};  // after the ports' doorbells
  Picoseconds device_end{};
  Picoseconds completed{};   // its outputs are in the host's memory
  Picoseconds awake{};       // a thread of the host has seen it
  Picoseconds finished{};    // and has made of the outputs what the application wants
  Picoseconds input_wait{};  // for the doorbell, before device_begin; longest over threads
  Picoseconds output_wait{};
  // The same by the device's own timers, which count whole ticks and differ a little from core to
  // core: exactly what a statistics buffer says.
  std::uint64_t device_ticks = 0;
  std::uint64_t input_wait_ticks = 0;
  std::uint64_t output_wait_ticks = 0;
  std::vector<std::byte> stats_buffer;  // empty unless sampled; always below -stats-level=40
  std::vector<TaskTruth> truth;         // empty unless asked for and sampled
  // The same of the other devices of a multi-device program, in order of their slices.
  std::vector<std::vector<std::byte>> more_stats_buffers;
  std::vector<std::vector<TaskTruth>> more_truth;
  std::vector<OpTraceRecord> op_trace;  // empty unless op_trace is asked for; of the first only
  std::vector<SessionPhase> phases;     // the outer one first; empty unless op_trace is asked for
};

struct SimulationResult {
  std::vector<SimulatedInference> inferences;  // in order of completion
  Picoseconds total{};                         // first submission to last completion
  std::uint64_t task_events = 0;               // executed thread tasks, the unit of the benchmark
};

// How long who asks for an inference waits: queued until the host has made of its outputs what the
// application wants. Of all activations; nothing where none ran.
struct RequestTimes {
  double median_s = 0;
  double percentile_99_s = 0;  // linearly between inferences, as the median
};
RequestTimes request_times(const SimulationResult& result);

// Inferences, each of `batch_size` samples, by the time of the whole run.
double samples_per_second(const SimulationResult& result, std::uint32_t batch_size);

// Of a program, or of the parts of a multi-device program (in order of their slices), which execute
// together, part i on devices[i]: one inference is one of all of them. Usage errors: the
// activations need more cores than the target has, an option makes no sense, or the target has no
// link between devices. Input errors: the parts are not those of one program, or a figure of the
// target makes no sense. The programs themselves are checked where they are read.
Status check_simulation(std::span<const qaic::Program* const> slices, const Target& target,
                        const SimulationOptions& options);

// What check_simulation refuses, and an input error when several programs cannot run together or
// the target's figures make the run take more than 11 days of the device's time. One program alone
// is not checked again: read_program() has.
Result<SimulationResult> simulate(std::span<const qaic::Program* const> slices,
                                  std::span<const std::uint32_t> devices, const Target& target,
                                  const SimulationOptions& options);
// Of a program that need not have been read from a file: an input error, too, when it cannot run.
Result<SimulationResult> simulate(const qaic::Program& program, const Target& target,
                                  const SimulationOptions& options);

}  // namespace npuscope::npu::nsp
