// Targets, graphs and compiled models for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "npu/core/target_file.hpp"
#include "npu/graph/import_onnx.hpp"
#include "npu/targets/ipu/compile.hpp"

namespace npuscope::npu::ipu {

inline const Target& muffin() {
  static const Target target = [] {
    const auto file = find_target_file("ipu-muffin");
    EXPECT_TRUE(file) << (file ? "" : file.error().message);
    auto parsed = parse_target(file->toml, file->name);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    return *parsed;
  }();
  return target;
}

// Models of the repository, and those beside it where they are.
inline std::vector<std::string> model_files() {
  std::vector<std::string> files;
  for (const char* folder : {NPUSCOPE_SOURCE_DIR "/models", NPUSCOPE_SHARED_DIR "/models"}) {
    std::error_code unknown;
    if (!std::filesystem::is_directory(folder, unknown)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".onnx") files.push_back(entry.path().string());
    }
  }
  return files;
}

inline Graph graph_of(const std::string& file) {
  auto graph = import_onnx_file(file, {.symbols = {}, .allow_unknown = false, .batch = 1});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

inline Graph repository_graph(const std::string& name) {
  return graph_of(NPUSCOPE_SOURCE_DIR "/models/" + name);
}

inline Compiled compiled_ipu(const Graph& graph, const Target& target = muffin(),
                             std::uint32_t batch = 1) {
  CompileOptions options;
  options.model_name = "test.onnx";
  options.batch = batch;
  auto compiled = compile(graph, target, options);
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
  return compiled ? *compiled : Compiled{};
}

}  // namespace npuscope::npu::ipu
