// The reference NPU's compiler for IPUs: a model graph in, a fixed model and an offline image out.
//
//   IpuCompileOptions options;
//   options.batch = 4;
//   auto compiled = compile_ipu(graph, *target, options);
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

#include "npuscope/base/result.hpp"
#include "npuscope/formats/sigmastar/image.hpp"
#include "npuscope/formats/sigmastar/model.hpp"
#include "npuscope/npu/graph/graph.hpp"
#include "npuscope/npu/ipu/ipu_target.hpp"

namespace npuscope::npu {

enum class BatchMode : std::uint8_t { n_buf, one_buf };
std::string_view name_of(BatchMode mode);

struct IpuCompileOptions {
  std::string model_name;        // for messages
  std::string description = {};  // of the fixed model
  std::uint32_t batch = 1;       // images at once
  BatchMode batch_mode = BatchMode::n_buf;
  std::uint32_t cores = 0;  // 0: all of the target's
};

// Of a layer of the hardware. Cores together, bytes between chip and DDR.
struct IpuLayerMetrics {
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

struct CompiledIpu {
  sigmastar::Model model;
  sigmastar::Image image;
  std::vector<IpuLayerMetrics> layers;
};

// Usage errors: more cores than the target has, a batch of 0, layers that do not fit a log. Input
// errors: operators that the IPU does not have (named), tensors that it cannot address, more inputs
// or outputs than its driver takes.
Result<CompiledIpu> compile_ipu(const Graph& graph, const IpuTarget& target,
                                const IpuCompileOptions& options);

}  // namespace npuscope::npu
