// What the operations of a graph do step by step: a stage is one kernel over one tile, on one slice
// or on both. Buffers stand for data between stages; whether they are in LRAM or in XRAM, and which
// transfers that takes, follows when the tasks are made.
//
//   conv2d bf16, 64 to 64 channels      stage conv2d, two calls of 32 channels each
//     buffer x   read whole by both     constants of each call: its weights, its biases
//     buffer y   a half written by each
//
// How the vendor's compiler cuts: torq-compiler 2.3.0's debug information of single operators, in
// the words of docs/validation.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "npu/targets/torq/kernels.hpp"
#include "npu/targets/torq/lowering.hpp"

namespace npuscope::npu::torq {

struct Buffer {
  std::uint64_t bytes = 0;
  bool outside = false;   // in XRAM: from the start, or as soon as it is written
  bool constant = false;  // of the model
};

struct Read {
  std::uint32_t buffer = 0;
  bool whole = false;  // by every call, or else each its part
};

enum class StageKind : std::uint8_t { slices, css, move, host_program };

// A kernel on one unit. Constants are loaded for each; their bytes are known before the run.
struct Call {
  std::uint64_t cycles = 0;    // of slices
  std::uint64_t elements = 0;  // of the CSS and the host: of the result
  std::uint64_t products =
      1;  // of the CSS: that make one of them; of the host: 0, not the operation's
  std::vector<std::uint64_t> constants = {};
  std::vector<std::uint64_t> reads = {};  // bytes of its part of each read of the stage
  std::vector<std::uint64_t> placed =
      {};                   // elements of each in the memory of the CSS; empty: the result's
  std::uint64_t frame = 0;  // bytes of an image of constants in XRAM that its first read goes into
  std::uint64_t writes = 0;
};

struct Stage {
  StageKind kind = StageKind::slices;
  SliceKernel kernel = SliceKernel::add;
  std::uint32_t operation = 0;  // of the lowering
  std::vector<Read> reads;
  bool follows = false;      // each call needs what the same call of the last stage made
  std::uint32_t result = 0;  // a buffer
  std::vector<Call> calls;
  std::uint64_t code_bytes = 0;
};

struct Stages {
  std::vector<Buffer> buffers;
  std::vector<Stage> stages;
  std::vector<std::uint32_t> on_host;  // operations whose smallest tile does not fit LRAM
  std::vector<std::string> warnings;
};

// An input error where there would be more tiles than a program may have tasks.
Result<Stages> stages_of(const Lowering& lowering, const Graph& graph, const Target& target);

// Parts of an operation's rows and channels, of equal size but for the last ones.
struct TileCut {
  std::uint64_t row_parts = 1, channel_parts = 1;
  bool operator==(const TileCut&) const = default;
};

// A convolution, pooling or product as its tiles see it.
struct ImageShape {
  std::uint64_t element_bytes = 1;
  std::uint64_t in_channels = 1, out_channels = 1;
  std::uint64_t in_rows = 1, in_columns = 1, out_rows = 1, out_columns = 1;
  std::uint64_t window = 1;  // rows of it
  std::uint64_t reach = 0;   // rows with gaps between them; less than `window`: it has none
  std::uint64_t window_area = 1;
  std::uint64_t stride = 1;
  std::uint64_t bias_bytes = 0;  // of a channel
  std::uint64_t ways = 1;        // slices that share a tile
  bool channelwise = false;      // a channel of the result needs one of the data
  bool segmented = false;        // the data are made into four parts first
  bool framed = false;           // in_rows and in_columns are of an image of constants around them

  std::uint64_t channels(const TileCut& cut) const;
  std::uint64_t rows(const TileCut& cut) const;
  std::uint64_t rows_read(const TileCut& cut) const;
  // That `made` rows of a result in so many tiles need.
  std::uint64_t rows_read(std::uint64_t made, std::uint64_t row_parts) const;
  // Of a tile of the result with a stride of two: the first and the last end at a border.
  std::uint64_t rows_of_tile(std::uint64_t made, bool is_first, bool is_last) const;
  std::uint64_t data_bytes(const TileCut& cut) const;        // that a tile reads
  std::uint64_t weight_bytes(std::uint64_t channels) const;  // in groups of four
};

// The fewest tiles that fit LRAM, of equal numbers the cut of channels alone. A cut of rows leaves
// rows of the neighbours in each tile, which a further kernel takes off. None where nothing fits.
std::optional<TileCut> cut_of(const ImageShape& shape, const Target& target);

// Whether LRAM holds so many rows of data and what becomes of them in so many channels.
bool rows_fit(const ImageShape& shape, std::uint64_t rows, std::uint64_t channels,
              const Target& target);

// How many channels each call of a tile takes: equal parts of whole groups, and what is left.
std::vector<std::uint64_t> parts_of(std::uint64_t channels, std::uint64_t ways,
                                    std::uint64_t group);

}  // namespace npuscope::npu::torq
