// How an operation is cut so that its data fit LRAM twice: while the slices compute one stage of
// tiles, transfers bring the next and take the last away.
//
//   conv2d, 112 rows of 112 pixels, 64 channels to 64
//     tiles of 9 rows and 64 channels     13 tiles; weights are loaded once
#pragma once

#include <cstdint>
#include <optional>

#include "npu/targets/torq/ndl.hpp"

namespace npuscope::npu::torq {

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
