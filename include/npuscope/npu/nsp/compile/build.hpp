// From an ONNX file to the bytes of a programqpc.bin, for NPUs with HMX and HVX cores (Cloud AI
// 100, Hexagon): import, one compilation per specialisation, packaging. What `npuscope compile`
// does.
//
//   nsp::BuildRequest request;
//   request.options.stats_level = 70;
//   auto built = nsp::build("model.onnx", request);
//   write_file_atomically("programqpc.bin", built->qpc);
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/npu/graph/import_options.hpp"

namespace npuscope::npu::nsp {

struct CompileOptions {
  std::string network_name = "QAicGraph";
  std::uint32_t cores = 0;       // 0: all of the target's
  bool convert_to_fp16 = false;  // float32 and float64 tensors become float16
  bool retained_state = false;   // X and X_RetainedState share device memory, never the link
  bool mxfp6_matmul = false;     // constant weights of MatMul and Gemm lie in DDR as MXFP6
  bool mxint8_state = false;     // retained state lies in DDR as MXINT8
  std::vector<std::string> mxint8_names;  // only that of these inputs and outputs
  std::uint32_t channel_split = 1;  // -mos: weights by output channels, in so many parts at least
  std::uint32_t overlap_split = 1;  // -ols: what is streamed comes in tiles so many times finer
  bool layer_by_layer = false;      // no convolutions through several layers at a time
  std::uint32_t stats_level = 40;   // what the statistics buffer records, 0 to 100
  std::uint32_t stats_batch_size = 0;  // inferences that one run counts as; 0: the model's batch
  bool ddr_stats = false;
  std::vector<std::uint32_t> pmu_events;
  std::uint32_t op_stats_verbosity = 1;  // 2: operands and attributes in the descriptor
  // The graph is the part of device `slice` of `slices` (device_graph of npu/compile/devices).
  std::uint32_t slice = 0;
  std::uint32_t slices = 1;
  // Whether HVX works on pieces of what the HMX makes in such a part, too: then what one device
  // makes first another may need last, so that they wait for one another for ever. join_slices
  // finds that.
  bool cuts_slices = false;
};

// Which devices execute a program.
struct PartitionConfig {
  std::string name = "Partition0";
  std::vector<std::uint32_t> devices{0};
  std::uint32_t cores = 0;  // of each device; 0: as -aic-num-cores says

  bool is_multi_device() const { return devices.size() > 1; }
};

struct BuildRequest {
  std::string target = "aic100";  // built in, or the path of a .toml file
  ImportOptions import;
  CompileOptions options;
  std::string specializations;  // path of the JSON file, or empty
  std::string io_list;          // path of the YAML file of -custom-IO-list-file, or empty
  std::string pmu_recipe;       // by name, or empty
  // Which devices share the model; its cores, where it names some, instead of options.cores.
  PartitionConfig partition;
};

struct CompiledNetwork;  // src/npu/targets/nsp/compile/compile.hpp: tasks, and what the compiler
                         // measured

struct BuildResult {
  // One, or one per specialisation; of a multi-device program as many as devices of each, in order
  // of their slices.
  std::shared_ptr<const std::vector<CompiledNetwork>> networks;
  PartitionConfig partition;  // as it was compiled
  std::vector<std::string> warnings;
  std::vector<std::byte> qpc;
};

// Usage and input errors as they apply; also where a device's part does not fit its DDR, with the
// numbers.
Result<BuildResult> build(const std::filesystem::path& model, BuildRequest request);

}  // namespace npuscope::npu::nsp
