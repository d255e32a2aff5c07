// The order of the queues, and the waits that make it safe.
//
// The HVX and HMX queues keep program order. The DMA queues are ordered by when their transfers
// could start, so that weights are fetched as early as the VTCM has room and never queue behind a
// multicast that still waits for its data.
#pragma once

#include <vector>

#include "formats/qaic/qpc/program.hpp"
#include "npu/targets/nsp/compile/tasks/task_graph.hpp"
#include "npu/targets/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

// The order of operators that are cut into tiles and follow one another on HVX. Lowering writes
// operator by operator; a tile would wait for all tiles of the operator before. With the tiles of
// several operators taken in turn, HVX works on the first while the HMX makes the last:
//
//   as lowered     div.0 div.1 div.2 erf.0 erf.1 erf.2 mul.0 mul.1 mul.2
//   interleaved    div.0 erf.0 mul.0 div.1 erf.1 mul.1 div.2 erf.2 mul.2

// All tasks, each after what it needs. Only tasks with TaskSpec::tiles above 1 and what stands
// among them change places, and an operator's own tiles keep their order: whoever waits for its
// last tile has waited for all.
std::vector<TaskIndex> interleave_tiles(const TaskGraph& tasks);

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
