// From an ONNX file to the bytes of a programqpc.bin: import, one compilation per specialisation,
// packaging. What `npuscope compile` does, for use from code.
//
//   BuildRequest request;
//   request.options.stats_level = 70;
//   auto built = build_from_onnx("model.onnx", request);
//   write_file_atomically("programqpc.bin", built->qpc);
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "npuscope/npu/compile/compile.hpp"
#include "npuscope/npu/compile/partition_config.hpp"
#include "npuscope/npu/graph/import_onnx.hpp"

namespace npuscope::npu {

struct BuildRequest {
  std::string target = "aic100";  // built in, or the path of a .toml file
  CompileOptions options;
  Symbols symbols;
  std::int64_t batch = 0;       // of a symbolic first dimension; 0: must be defined
  std::string specializations;  // path of the JSON file, or empty
  bool allow_unknown = false;
  std::string pmu_recipe;  // by name, or empty
  // Which devices share the model; its cores, where it names some, instead of options.cores.
  PartitionConfig partition;
};

struct BuildResult {
  // One, or one per specialisation; of a multi-device program as many as devices of each, in order
  // of their slices.
  std::vector<CompiledNetwork> networks;
  PartitionConfig partition;  // as it was compiled
  std::vector<std::string> warnings;
  std::vector<std::byte> qpc;
};

// Input errors also where a device's part does not fit its DDR, with the numbers.
Result<BuildResult> build_from_onnx(const std::filesystem::path& model, BuildRequest request);

// "seq_len,32"
Result<std::pair<std::string, std::int64_t>> parse_symbol(std::string_view definition);
// "3F,70,200": 1 to 8 hexadecimal codes, with or without 0x.
Result<std::vector<std::uint32_t>> parse_pmu_events(std::string_view list);

}  // namespace npuscope::npu
