// From an ONNX file to a program for a Synaptics Torq NPU, with the compiler's estimates. What
// `npuscope compile --target torq-sl2610` does.
//
//   auto built = torq::build("model.onnx", {.target = "torq-sl2610"});
//   write_file_atomically("model.torq", built->program);
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "npuscope/base/result.hpp"
#include "npuscope/npu/graph/import_options.hpp"

namespace npuscope::npu::torq {

struct BuildRequest {
  std::string target = "torq-sl2610";  // built in, or the path of a .toml file
  ImportOptions import;
};

struct Compilation;  // src/npu/targets/torq/compile.hpp: dispatches, estimates, debug information
struct Target;       // src/npu/targets/torq/target.hpp

struct BuildResult {
  std::vector<std::byte> program;  // the file
  std::vector<std::string> warnings;
  std::shared_ptr<const Compilation> compilation;
  std::shared_ptr<const Target> target;
};

// Usage and input errors as they apply; those of the model name it.
Result<BuildResult> build(const std::filesystem::path& model, const BuildRequest& request);

}  // namespace npuscope::npu::torq
