// Finds tasks that can touch the same VTCM bytes at the same time while one of them writes, and
// those that can read a tensor in DDR before all of it is there. It works by happens-before on the
// finished program's waits and a log of every access, independent of how the compiler derived and
// pruned the waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "npu/targets/nsp/compile/compile.hpp"

namespace npuscope::npu::nsp {

struct CollisionCheck {
  std::size_t accesses = 0;
  std::size_t collisions = 0;
  std::size_t ddr_reads = 0;        // of what the program itself wrote
  std::size_t early_ddr_reads = 0;  // pairs of a write and a later read that need not wait for it
};

// `hoisted`: bytes of every core's VTCM that constants keep.
CollisionCheck check_collisions(const Graph& graph, const CompileOptions& options,
                                std::uint64_t hoisted = 0);
// The same on an HTP, of the graph that QNN makes.
CollisionCheck check_collisions_of_htp(const Graph& graph);

}  // namespace npuscope::npu::nsp
