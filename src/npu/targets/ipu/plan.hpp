// How a layer of the hardware is divided: its rows among the cores, or its columns where less is
// loaded then (weights once, inputs twice) or there are fewer rows than cores; and on each core
// into tiles that fit the on-chip memory twice, so that the next one is loaded while one is
// computed and the one before it stored.
//
//   1 MiB a core: a quarter for weights (this layer's and the next one's, or two parts of these),
//   the rest for inputs and results
//
// Weights beyond a quarter are divided by columns; then either the inputs or the weights are loaded
// several times, whichever is less.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/sigmastar/program.hpp"
#include "npu/targets/ipu/lowering.hpp"
#include "npu/targets/ipu/target.hpp"

namespace npuscope::npu::ipu {

// What an operator, or a fused group, has to do, in terms that can be divided among cores and
// tiles: rows of its result (of all images of a batch one below the other), and columns where the
// weights of some columns can do without the others.
//
//   conv 3x3 of [1, 64, 56, 56]   rows 56; stream of 56 rows, windows of 3; weights 36,864 bytes;
//                                 56 x 56 pixels x 18 passes of the array x 2 columns of lanes

// From `begin` up to, not including, `end`.
struct Range {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
};

// total * part / whole, rounded down, without overflow for whole below 2^32.
constexpr std::uint64_t share_of(std::uint64_t total, std::uint64_t part, std::uint64_t whole) {
  return total / whole * part + total % whole * part / whole;
}
constexpr std::uint64_t share_of(std::uint64_t total, Range part, std::uint64_t whole) {
  return share_of(total, part.end, whole) - share_of(total, part.begin, whole);
}

// An input that is loaded as rows are computed.
struct Stream {
  TensorId tensor = TensorId::none;
  std::uint64_t bytes = 0;
  bool is_constant = false;
  // Windows over input rows, image by image. in_rows 0: every row takes its even share.
  std::uint64_t images = 1, in_rows = 0, out_rows = 0;
  std::int64_t extent = 1, stride = 1, pad = 0;

  // Bytes that rows need of it, of `rows` in all.
  std::uint64_t needed(Range of, std::uint64_t rows) const;
};

// On the array: a cycle for each pixel, each pass over input lanes, each group of output lanes.
struct ConvWork {
  std::uint64_t pixels = 0;
  std::uint64_t passes = 0;
  std::uint64_t columns = 0;  // of one group of a grouped convolution
};

struct VectorWork {
  std::uint64_t elements = 0;
  double passes = 0;
};

struct Work {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;  // 1: cannot be divided by columns
  std::vector<Stream> streams;
  std::uint64_t weight_bytes = 0;    // constants that all rows need
  std::uint64_t resident_bytes = 0;  // results of other operators that all rows need
  std::uint64_t output_bytes = 0;
  std::uint64_t between_bytes = 0;  // results within a group: never leave the chip
  std::vector<ConvWork> convs;
  std::vector<VectorWork> vectors;
  std::uint64_t multiply_accumulates = 0;

  std::uint64_t input_bytes() const;  // of other operators' results, each once
  std::uint64_t constant_bytes() const;
};

// Of `batch` images at once.
Work work_of(const Lowered& lowered, const Operator& op, std::uint64_t batch, const Target& target);

struct LayerPlan {
  std::vector<std::vector<sigmastar::ProgramTile>> cores;
  std::uint64_t load_bytes = 0;  // of all tiles
  std::uint64_t store_bytes = 0;
};

// Bytes that weights may take of a core's memory, and what is left for two tiles of the rest.
std::uint64_t weight_room(const Target& target);
std::uint64_t tile_room(const Target& target, std::uint64_t weight_bytes);

// On chip while these rows are computed, without weights.
std::uint64_t tile_bytes(const Work& work, Range rows);

// A usage error where a tile takes longer, or the layer has more tiles, than a log can tell.
Result<LayerPlan> plan_layer(const Work& work, const Target& target);

// Which operators the hardware runs as one layer: up to three in a row, of which each takes the
// one's result before it and nothing else does, so that it never leaves the chip. Members need no
// rows but their own: convolutions of 1 x 1 and elementwise operators.
//
//   CONV_2D 3x3, CONV_2D 1x1, ADD     one layer; the operand that ADD takes from elsewhere is
//   loaded
struct OperatorGroup {
  std::size_t first = 0;  // in Lowered::operators
  std::size_t count = 1;
  Work work;
};

// In the operators' order; aliases are in none.
std::vector<OperatorGroup> group_operators(const Lowered& lowered, std::uint64_t batch,
                                           const Target& target);

}  // namespace npuscope::npu::ipu
