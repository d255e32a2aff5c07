// What the device executes: npuscope's own program segment of a QPC ("npuscope.program.bin").
// The reference compiler writes it, the simulator runs it, and the decoder takes the dependencies
// from it. The vendor's own device code (network.elf) is neither read nor written.
//
// A core has three in-order queues, one per thread group: HVX (4 threads that run every task
// together, a quarter each), HMX (1 thread), DMAIssue (1 thread that issues asynchronous
// transfers). Queue q = core * thread_groups + group holds tasks [queue_begin[q], queue_begin[q +
// 1]).
//
//   core 0   HVX       aicconverttod32 ──────────────┐                     aicsoftmax
//            HMX                                     └ wait ┬ aicconvolutiond32 ┘
//            DMAIssue  aiccopytovtcm ~ transfer ~~~~~~~~~~~~┘
//
// A task starts when the tasks before it in its queue are done (a DMA task: issued) and every wait
// holds. A wait (queue, count) holds when the first `count` tasks of that queue have completed; a
// DMA task completes when its transfer has, and the transfers of one core complete in order.
// Waits are the pruned minimum; `dependencies` are all of them, with their kinds, for display.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "npuscope/base/files.hpp"
#include "npuscope/base/result.hpp"

namespace npuscope::qaic {

enum class ThreadGroup : std::uint8_t { hvx = 0, hmx = 1, dma_issue = 2 };
inline constexpr std::uint32_t thread_groups = 3;

// Names as in the network descriptor.
constexpr std::string_view name_of(ThreadGroup group) {
  constexpr std::array<std::string_view, 3> names{"HVX", "HMX", "DMAIssue"};
  return names[std::size_t(group)];
}

// Numbers of the ports between host and device.
inline constexpr std::uint16_t host_input_port = 100;
inline constexpr std::uint16_t host_output_port = 101;

enum TaskFlags : std::uint8_t {
  task_signals = 1,         // other queues wait on it: a barrier follows the kernel
  task_pipelined_port = 2,  // semaphore increment for an I/O port: recorded from level 50
  task_end_stats = 4,       // aicendcyclestats: writes the statistics buffer, last of its queue
  task_hmx_int8 = 8,        // HMX: a product of integers, which takes less power than others
};

struct Task {
  std::uint32_t kernel = 0;      // index in Program::kernels
  std::uint32_t cycles = 0;      // kernel cycles of one thread (DMA: to issue), no jitter
  std::uint64_t ddr_read = 0;    // bytes moved from DDR while it runs (DMA: asynchronously)
  std::uint64_t ddr_write = 0;   // bytes moved to DDR
  std::uint64_t multicast = 0;   // bytes sent to other cores' VTCM
  std::uint64_t macs = 0;        // multiply-accumulates, padding included (HMX)
  std::uint32_t wait_begin = 0;  // waits[wait_begin, wait_begin + wait_count)
  std::uint32_t wait_count = 0;
  std::uint32_t dependency_begin = 0;
  std::uint32_t dependency_count = 0;
  std::uint8_t flags = 0;  // TaskFlags
  std::uint8_t thread_imbalance =
      0;                      // HVX: percent of `cycles` by which the lightest thread is shorter
  std::uint16_t port = 0;     // of a semaphore task: host_input_port or host_output_port; else 0
  std::uint32_t threads = 0;  // HVX: of the group, that share it; 0: all
};
static_assert(sizeof(Task) == 64);

struct Wait {
  std::uint32_t queue = 0;
  std::uint32_t count = 0;  // completed tasks of that queue
};

struct Dependency {
  std::uint32_t task = 0;  // index in Program::tasks of the task it needs
  std::uint32_t kind = 0;  // 0 true (data), 1 false (memory reuse)
};

// One side of a transfer between the devices of a multi-device program: the sender's DMA task and
// the HVX task of the receiver that waits for the data name the same pair of devices and number.
struct PeerTransfer {
  std::uint32_t task = 0;      // index in Program::tasks
  std::uint32_t peer = 0;      // slice of the other device
  std::uint64_t bytes = 0;     // of data
  std::uint32_t number = 0;    // unique among the transfers from one device to another
  std::uint32_t incoming = 0;  // 0 the sending side, 1 the receiving side
};
static_assert(sizeof(PeerTransfer) == 24);

struct Program {
  std::string network_name;  // "QAicGraph"
  std::uint32_t cores = 0;
  std::uint32_t hvx_threads = 4;     // + 1 HMX + 1 DMAIssue thread per core
  std::uint32_t batch_size = 1;      // of the model
  std::uint64_t input_bytes = 0;     // host to device per inference
  std::uint64_t output_bytes = 0;    // device to host per inference, statistics excluded
  std::uint64_t retained_bytes = 0;  // state that stays on the device between inferences
  // Constants that are read from DDR once, before the first inference, and then stay in VTCM: by
  // core; empty: none.
  std::vector<std::uint64_t> hoisted_bytes;

  // Of a multi-device program this is the part of device `slice` of `slices`.
  std::uint32_t slice = 0;
  std::uint32_t slices = 1;
  std::vector<PeerTransfer> peer_transfers;  // by task

  // Instrumentation
  std::uint32_t stats_level = 40;
  std::uint32_t stats_batch_size = 1;
  bool ddr_stats = false;
  std::vector<std::uint32_t> pmu_events;  // up to 8

  std::vector<std::string> kernels;        // names, e.g. aicconvolutiond32
  std::vector<std::uint32_t> queue_begin;  // cores * thread_groups + 1
  std::vector<Task> tasks;
  std::vector<Wait> waits;
  std::vector<Dependency> dependencies;

  std::uint32_t threads_per_core() const { return hvx_threads + 2; }
  std::uint32_t queues() const { return cores * thread_groups; }
  std::uint32_t thread_count(ThreadGroup group) const {
    return group == ThreadGroup::hvx ? hvx_threads : 1;
  }
  // Thread numbers within a core: HVX 0.., then HMX, then DMAIssue.
  std::uint32_t first_thread(ThreadGroup group) const {
    return group == ThreadGroup::hvx ? 0 : hvx_threads + std::uint32_t(group) - 1;
  }
  // Whether the statistics buffer has a record for this task at the program's level: from 70 every
  // task, from 50 the pipelined ports' semaphore increments, below none. The descriptor lists the
  // same tasks in the same order.
  bool records(const Task& task) const {
    return stats_level >= 70 || (stats_level >= 50 && (task.flags & task_pipelined_port) != 0);
  }
};

// XXH3-64 over everything above: a statistics buffer carries it, so a buffer of another program
// is recognised.
std::uint64_t fingerprint(const Program& program);

std::uint64_t program_bytes(const Program& program);  // of what is written
std::vector<std::byte> write_program(const Program& program);
void write_program(const Program& program, std::vector<std::byte>& out);  // appends it

// Refuses (input error) a program whose indices point outside its tables, whose waits can never
// hold, or whose sizes are absurd, so that the simulator need not check again. `forget` is called
// with bytes that have been copied and are not looked at again; it may be empty.
Result<Program> read_program(ByteSpan bytes, std::string name,
                             const std::function<void(ByteSpan)>& forget = {});

}  // namespace npuscope::qaic
