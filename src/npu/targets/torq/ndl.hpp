// What a slice's data movers (NDLs) count while a kernel runs. The compiler takes the largest count
// as the kernel's cycles: movers run in parallel, a step of each takes a cycle.
//
//   conv2d, 3x3, 64 to 128 channels, 28x28, 1-byte elements
//     cepr   576 * 416 = 239,616   partial sums: products of a result, blocks of 64x4 results
//     cedr   239,616               data to the ALU
//     deqw   16 * 416 = 6,656      results to LRAM, 16 at a time
//
// Sources: the kernels of synaptics-torq/torq-compiler, compiler/torq/Conversions/TorqHLToTorqHW,
// and ProfilingPass.cpp for how counts become cycles.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "npu/targets/torq/target.hpp"

namespace npuscope::npu::torq {

// How many parts of a size make the whole, the last one perhaps smaller. `part` is not 0.
constexpr std::uint64_t parts_of(std::uint64_t whole, std::uint64_t part) {
  return whole / part + (whole % part != 0);
}

// In the order of the compiler's report. Those that begin with d move between LRAM and the slice.
enum class NdlKind : std::uint8_t {
  dedr,
  cedw,
  cedr,
  dewr,
  ceww,
  cewr,
  debr,
  acbw,
  deqw,
  acpr,
  cepr
};
std::string_view name_of(NdlKind kind);
constexpr bool is_memory_ndl(NdlKind kind) {
  return kind == NdlKind::dedr || kind == NdlKind::dewr || kind == NdlKind::debr ||
         kind == NdlKind::deqw;
}

struct Ndl {
  NdlKind kind = NdlKind::dedr;
  std::vector<std::uint64_t> counts;  // of its outer dimensions
};

// Counts of a dimension are multiplied; of NDLs of one kind those of memory are added, of others
// the last counts. Saturates.
std::uint64_t kernel_cycles(const std::vector<Ndl>& ndls);

enum class SliceKernel : std::uint8_t {
  convolution,
  depthwise,  // and average pooling
  fully_connected,
  matrix_product,
  max_pooling,
  elementwise,  // one or several operands
  table,        // by lookup: sigmoid, exponential
  reduction,    // rows of results, each over `inputs` elements
  transpose,
  gather,
};
// As the compiler calls what runs it: "conv2d".
std::string_view name_of(SliceKernel kernel);

struct SliceWork {
  SliceKernel kernel = SliceKernel::elementwise;
  std::uint64_t pixels = 0;  // of a channel of the result; of elementwise work all elements
  std::uint64_t out_channels = 1;
  std::uint64_t in_channels = 1;  // that make one result
  std::uint64_t window_x = 1, window_y = 1;
  std::uint64_t stride = 1;
  std::uint64_t operands = 1;  // of elementwise work
  std::uint64_t element_bytes = 1;
};

std::vector<Ndl> ndls_of(const SliceWork& work, const Target& target);

}  // namespace npuscope::npu::torq
