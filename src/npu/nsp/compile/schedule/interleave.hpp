// The order of operators that are cut into tiles and follow one another on HVX. Lowering writes
// operator by operator; a tile would wait for all tiles of the operator before. With the tiles of
// several operators taken in turn, HVX works on the first while the HMX makes the last:
//
//   as lowered     div.0 div.1 div.2 erf.0 erf.1 erf.2 mul.0 mul.1 mul.2
//   interleaved    div.0 erf.0 mul.0 div.1 erf.1 mul.1 div.2 erf.2 mul.2
#pragma once

#include <vector>

#include "npu/nsp/compile/tasks/task_graph.hpp"

namespace npuscope::npu::nsp {

// All tasks, each after what it needs. Only tasks with TaskSpec::tiles above 1 and what stands
// among them change places, and an operator's own tiles keep their order: whoever waits for its
// last tile has waited for all.
std::vector<TaskIndex> interleave_tiles(const TaskGraph& tasks);

}  // namespace npuscope::npu::nsp
