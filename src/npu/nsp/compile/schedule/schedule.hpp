// The order of the queues, and the waits that make it safe.
//
// The HVX and HMX queues keep program order. The DMA queues are ordered by when their transfers
// could start, so that weights are fetched as early as the VTCM has room and never queue behind a
// multicast that still waits for its data.
#pragma once

#include <vector>

#include "formats/qaic/qpc/program.hpp"
#include "npu/nsp/compile/tasks/task_graph.hpp"
#include "npu/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

struct Schedule {
  std::vector<std::vector<TaskIndex>> queues;  // by core * thread_groups + group
  std::vector<TaskIndex> global;               // all tasks in an order in which they could run
  std::vector<std::int64_t> begin;             // by task, in picoseconds, roughly
};

Schedule schedule_tasks(const TaskGraph& tasks, const Target& target);

// Fills kernels, queue_begin, tasks, waits and dependencies of `program`. Returns for every task of
// the program its index in `tasks`.
std::vector<TaskIndex> emit_program(const TaskGraph& tasks, const Schedule& schedule,
                                    const StringPool& strings, qaic::Program& program);

}  // namespace npuscope::npu::nsp
