// The kernels that a slice runs: what the compiler calls them, how much code each has, and how many
// cycles the compiler's cost model gives a tile of one.
//
//   conv2d, 64 to 64 channels, 28x28, 1-byte elements, 1x1
//     13 blocks of 64 pixels, 16 of 4 channels, each 64 products    13,312 cycles
//   the same in bf16: 25 blocks of 32 pixels                        25,600
//
// A slice multiplies a block of pixels by a group of channels each cycle, and scales results of 16
// bytes each; the slower of the two decides, and for windows that are read in parts the reading.
#pragma once

#include <cstdint>
#include <string_view>

#include "npu/targets/torq/target.hpp"

namespace npuscope::npu::torq {

enum class SliceKernel : std::uint8_t {
  conv2d,
  conv2d_stride2,  // on data in four parts, by even and odd rows and columns
  depthwise,
  depthwise_stride2,
  segmentation,     // makes the four parts
  max_pool,         // of whole windows
  max_pool_padded,  // of windows that reach beyond the data
  average_pool,     // all pixels of each channel, channels last
  fc,               // one row of data
  fc_fast,          // several, by constant weights
  matmul_fast,      // by another tensor
  add,
  sub,
  mul,
  fma,  // by a constant, with another added
  clamp,
  abs,
  negate,
  convert,
  compare,
  shift,
  select,
  table,
  broadcast,
  reduce_max,
  reduce_sum,
  reduce_mean,
  transpose_block,
  transpose,
  round,  // of 32-bit sums to bf16
  fill,
  gather,
};
inline constexpr std::size_t slice_kernel_count = std::size_t(SliceKernel::gather) + 1;

// In the words of torq-compiler 2.3.0's debug information.
struct KernelNames {
  std::string_view operation;  // "conv2dStride2": of the task
  std::string_view program;    // "conv2d": the program's, before its number
};
KernelNames names_of(SliceKernel kernel);

// A tile of a kernel. Kernels that take elements one like the other have `pixels` of them.
struct KernelWork {
  SliceKernel kernel = SliceKernel::add;
  std::uint64_t element_bytes = 1;
  std::uint64_t pixels = 0;        // of a channel; rows of a product or a reduction
  std::uint64_t in_channels = 1;   // that make one result; elements of a reduction
  std::uint64_t out_channels = 1;  // columns of a product
  std::uint64_t window_x = 1, window_y = 1;
  std::uint64_t row_bytes = 0;  // of segmentation: of a row of a part
};

// Saturates.
std::uint64_t kernel_cycles(const KernelWork& work, const Target& target);

// The transfer that loads its program.
std::uint64_t code_bytes(SliceKernel kernel, const Target& target);

}  // namespace npuscope::npu::torq
