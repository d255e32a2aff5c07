// What a kernel on HVX costs.
//
//   aic100   all threads of the core share it: its cycles are those of each
//   htp-v73  each thread takes tiles of the result (hvx.tile_bytes of the target): a tensor of
//            three tiles keeps three threads busy, one of five the first thread twice
//
// Where a target's description has figures of a kernel by type ("elementadd_int8", of 8 bit;
// "convertto_wide", of 32 and more), or of what is not an image ("elementtanh_matrix",
// "aicconvertfromd32_int8_matrix"), those count.
#pragma once

#include <cstdint>
#include <string>

#include "npu/graph/graph.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"
#include "npu/targets/nsp/target/target.hpp"

namespace npuscope::npu::nsp {

struct VectorWork {
  std::uint64_t cycles = 0;   // of the busiest thread
  std::uint32_t threads = 0;  // of the group that share it; 0: all
  bool on_hmx = false;
  std::uint32_t tiles = 1;
};

// Of a result, or of what its cost goes by.
struct VectorSize {
  DataType type = DataType::undefined;
  std::uint64_t bytes = 0;
  std::uint64_t padded_bytes = 0;
  std::uint64_t cut_bytes = 0;  // of the result, padded: what is cut into tiles
  double rows = 0;              // of the innermost dimension
  double blocks = 1;            // of channels, in strips of an image; heads
  bool image = false;
  double places = 1;  // of a window

  VectorSize part(double share) const;
};

VectorSize vector_size(const CompileContext& context, TensorId id);
// Of places along one axis, as those of an image of so many rows.
VectorSize sequence_size(const CompileContext& context, TensorId id, std::uint64_t rows);

VectorWork vector_work(const Target& target, const std::string& kernel, const VectorSize& size);

const KernelCost& kernel_cost(const Target& target, const std::string& kernel,
                              const VectorSize& size);

// Cycles of the thread group for `output_bytes` of result on one core.
std::uint64_t vector_cycles(const Target& target, const std::string& kernel,
                            std::uint64_t output_bytes);

}  // namespace npuscope::npu::nsp
