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

#include <vector>

#include "formats/sigmastar/program.hpp"
#include "npu/targets/ipu/work.hpp"

namespace npuscope::npu::ipu {

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
