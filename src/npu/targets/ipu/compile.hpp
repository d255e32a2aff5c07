// The reference NPU's compiler for IPUs: a model graph in, a fixed model and an offline image out.
//
//   CompileOptions options;
//   options.batch = 4;
//   auto compiled = compile(graph, *target, options);
//   compiled->model                     fixed.sim: CONV_2D, MAX_POOL_2D, …, Fix2Float
//   compiled->image.own->program        layers of tiles for each core
//   compiled->layers[0].refetch_bytes   what is loaded more than once
//
// How: operators with TFLite's names; fused groups of two or three; each layer's rows divided among
// the cores (whole images where the batch is even, else halves of the height; output channels where
// less is loaded that way) and into tiles that fit the on-chip memory twice. docs/cli/compile.md
// has the rules. Same graph, target and options: same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/sigmastar/image.hpp"
#include "formats/sigmastar/model.hpp"
#include "npu/graph/graph.hpp"
#include "npu/targets/ipu/target.hpp"
#include "npuscope/base/result.hpp"
#include "npuscope/npu/ipu/build.hpp"

namespace npuscope::npu::ipu {

// Of a layer of the hardware. Cores together, bytes between chip and DDR.
struct LayerMetrics {
  std::string type;  // of its first operator
  std::string output;
  std::uint32_t first_operator = 0;
  std::uint32_t operators = 1;
  std::uint64_t multiply_accumulates = 0;
  std::uint64_t tiles = 0;
  std::uint64_t load_bytes = 0;     // weights + inputs + refetch
  std::uint64_t weight_bytes = 0;   // once
  std::uint64_t input_bytes = 0;    // once
  std::uint64_t refetch_bytes = 0;  // what is loaded again: by the other core, or for want of room
  std::uint64_t store_bytes = 0;
};

struct Compiled {
  sigmastar::Model model;
  sigmastar::Image image;
  std::vector<LayerMetrics> layers;
};

// Usage errors: more cores than the target has, a batch of 0, layers that do not fit a log. Input
// errors: operators that the IPU does not have (named), tensors that it cannot address, more inputs
// or outputs than its driver takes.
Result<Compiled> compile(const Graph& graph, const Target& target, const CompileOptions& options);

}  // namespace npuscope::npu::ipu
