// From an ONNX file to a fixed model and an offline image for a SigmaStar IPU. What
// `npuscope compile --target ipu-muffin` does.
//
//   auto built = ipu::build("model.onnx", {.target = "ipu-muffin", .options = {.batch = 4}});
//   built->model, built->image     texts of model_fixed.sim and model_fixed.sim_sgsimg.img
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/npu/graph/import_options.hpp"

namespace npuscope::npu::ipu {

enum class BatchMode : std::uint8_t { n_buf, one_buf };
std::string_view name_of(BatchMode mode);

struct CompileOptions {
  std::string model_name;        // for messages
  std::string description = {};  // of the fixed model
  std::uint32_t batch = 1;       // images at once
  BatchMode batch_mode = BatchMode::n_buf;
  std::uint32_t cores = 0;  // 0: all of the target's
};

struct BuildRequest {
  std::string target = "ipu-muffin";  // built in, or the path of a .toml file
  ImportOptions import;
  CompileOptions options;  // its names come from the model's path
};

struct Compiled;  // src/npu/targets/ipu/compile.hpp: model, image, what each layer moves

struct BuildResult {
  std::string model;  // the files
  std::string image;
  std::vector<std::string> warnings;
  std::shared_ptr<const Compiled> compiled;
};

// Usage and input errors as they apply.
Result<BuildResult> build(const std::filesystem::path& model, BuildRequest request);

}  // namespace npuscope::npu::ipu
