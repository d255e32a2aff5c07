// How an operation is cut so that its data fit LRAM twice: while the slices compute one stage of
// tiles, transfers bring the next and take the last away.
//
//   conv2d, 112 rows of 112 pixels, 64 channels to 64
//     tiles of 9 rows and 64 channels     13 tiles; weights are loaded once
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/arithmetic.hpp"
#include "npu/targets/torq/target.hpp"

namespace npuscope::npu::torq {

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

// Bytes are those of the NPU's element types.
struct SliceOperation {
  SliceKernel kernel = SliceKernel::elementwise;
  std::uint64_t repeats = 1;  // groups of a convolution, matrices of a batch
  std::uint64_t rows = 0;     // of the result, of all images; of elementwise work elements
  std::uint64_t row_pixels = 1;
  std::uint64_t in_channels = 1, out_channels = 1;
  std::uint64_t window_x = 1, window_y = 1, stride = 1;
  std::uint64_t operands = 1;  // that are as large as the result
  std::uint64_t element_bytes = 1;
  bool channelwise = false;  // a channel of the result needs one of the data

  std::uint64_t input_rows = 0;
  std::uint64_t input_row_bytes = 0;  // of one channel
  std::uint64_t weight_bytes = 0;     // of one channel of the result
  std::uint64_t shared_bytes = 0;     // that every tile needs: small operands, a table
  std::uint64_t output_element_bytes = 1;
};

// Rows and channels of one tile, the last ones perhaps less.
struct TileSize {
  std::uint64_t rows = 0;
  std::uint64_t channels = 0;
  bool operator==(const TileSize&) const = default;
};

SliceWork work_of(const SliceOperation& operation, TileSize tile);
std::uint64_t input_bytes(const SliceOperation& operation, TileSize tile);  // of one operand
std::uint64_t weight_bytes(const SliceOperation& operation, TileSize tile);
std::uint64_t output_bytes(const SliceOperation& operation, TileSize tile);

// A part of an operation: which of its rows and channels, of which repeat.
struct TilePart {
  std::uint64_t repeat = 0, row_part = 0, channel_part = 0;
  bool operator==(const TilePart&) const = default;
};

struct TilePlan {
  TileSize size;
  bool channels_inner = false;  // channels run through first: data stay, weights come again
  std::uint64_t row_parts = 0;
  std::uint64_t channel_parts = 0;
  std::uint64_t tiles = 0;  // of all repeats
  TilePart part(std::uint64_t index) const;
  // The last part of rows or channels may be smaller.
  TileSize at(const SliceOperation& operation, std::uint64_t row_part,
              std::uint64_t channel_part) const;
};

// What is in LRAM from the operation before, or stays there for the one behind.
struct Resident {
  bool input = false;  // one operand
  bool output = false;
};

// The cut that takes the least time, of several such the one with the least traffic. None where
// even one row of one channel does not fit.
std::optional<TilePlan> plan_tiles(const SliceOperation& operation, const Target& target,
                                   Resident resident, std::uint64_t lram_bytes);

}  // namespace npuscope::npu::torq
