// Generated programs of several shapes by bytes alone: executed, written as a device or its tools
// write it, read back. What the simulator knows of every task stays beside it.
//
//   const GeneratedRun run = device_run({.seed = 3, .cores = 2, .shape = Shape::chain});
//   run.profiles[0]                       what the decoder makes of the first buffer
//   run.simulated.inferences[0].truth     what really happened
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/qaic/qpc/program.hpp"
#include "formats/qaic/qpc/schematic.hpp"
#include "npu/targets/nsp/simulate/simulate.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/profile/profile.hpp"

namespace npuscope {

enum class Shape : std::uint8_t { free, random, chain, fork_join };
inline constexpr Shape all_shapes[] = {Shape::free, Shape::random, Shape::chain, Shape::fork_join};

struct GeneratedOptions {
  std::uint64_t seed = 1;
  std::uint32_t cores = 1;
  std::uint32_t tasks = 120;
  Shape shape = Shape::random;
  std::uint32_t inferences = 1;
};

struct GeneratedRun {
  qaic::Program program;
  npu::nsp::Target target;
  npu::nsp::SimulationResult simulated;
  std::vector<Profile> profiles;       // of the inferences, in their order
  std::vector<std::uint32_t> task_of;  // by op of the profiles; no_task: none of the program's

  static constexpr std::uint32_t no_task = ~0u;
  std::uint32_t queue_of(std::uint32_t task) const;
  std::uint32_t core_of(std::uint32_t task) const { return queue_of(task) / qaic::thread_groups; }
  qaic::ThreadGroup group_of(std::uint32_t task) const {
    return qaic::ThreadGroup(queue_of(task) % qaic::thread_groups);
  }
  std::uint32_t op_of(std::uint32_t task) const;
  // A core's timer after `time`, up to a constant of the core.
  std::int64_t ticks(Picoseconds time) const;
};

// Every DMA task moves one way, by the kernel that does so; a few HVX and HMX tasks read tables
// from DDR. Dependencies are the waits and, between transfers of a core, data that was moved out
// and is moved in again.
qaic::Program generated_program(const GeneratedOptions& options);

// No two numbers alike, no jitter, a timer and a clock of 1 GHz: a tick is a cycle.
npu::nsp::Target exact_target();

// Cloud AI 100: statistics buffers.
GeneratedRun device_run(const GeneratedOptions& options, const npu::nsp::Target& target);
GeneratedRun device_run(qaic::Program program, std::uint32_t inferences,
                        const npu::nsp::Target& target);
// With a clock, a seed and more of one's own; each inference must be sampled.
GeneratedRun device_run(qaic::Program program, const npu::nsp::SimulationOptions& options,
                        const npu::nsp::Target& target);

// HTP: a QNN optrace set, of which only the first inference has ops. One core.
GeneratedRun optrace_run(const GeneratedOptions& options, const npu::nsp::Target& target);
GeneratedRun optrace_run(qaic::Program program, const npu::nsp::Target& target);
// Of a compiled program with what its compiler knew of it, also where tasks' cycles differ from
// then.
GeneratedRun optrace_run(qaic::Program program, qaic::Schematic schematic,
                         const npu::nsp::Target& target);

// The run again from some files of its set, by their endings (".json", "_profile.txt"): a profile
// for each list of them, as of a download that lacks the others.
std::vector<Profile> read_subsets(const GeneratedRun& run,
                                  const std::vector<std::vector<std::string>>& endings);

}  // namespace npuscope
