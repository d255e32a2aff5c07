// Graphs to compile in tests: real models of the repository and generated transformers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>

#include "npu/graph/import_onnx.hpp"
#include "npu/targets/nsp/compile/compile.hpp"
#include "npu/targets/nsp/target/target.hpp"
#include "npuscope/npu/models/generate_onnx.hpp"

namespace npuscope::npu::nsp {

inline Target aic100() {
  static const auto target = builtin_target("aic100");  // read once: tests ask thousands of times
  EXPECT_TRUE(target) << (target ? "" : target.error().message);
  return *target;
}

inline Graph repository_model(const std::string& file) {
  auto graph = import_onnx_file(std::string(NPUSCOPE_SOURCE_DIR) + "/models/" + file, {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

inline Graph generated_model(const std::string& preset, const InputSizes& sizes,
                             std::int64_t layers = 0) {
  ArchitectureChanges changes;
  if (layers > 0) changes.layers = layers;
  auto model = generate_onnx(*make_architecture(preset, changes), sizes, {});
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  auto graph = import_onnx(as_byte_span(model->bytes), preset, {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

inline CompileOptions options_for(std::uint32_t cores, std::uint32_t stats_level = 70) {
  CompileOptions options;
  options.cores = cores;
  options.convert_to_fp16 = true;
  options.retained_state = true;
  options.stats_level = stats_level;
  return options;
}

inline CompiledNetwork compiled(const Graph& graph, const CompileOptions& options,
                                const Target& target = aic100()) {
  auto network = compile_network(graph, target, options);
  EXPECT_TRUE(network) << (network ? "" : network.error().message);
  return network ? *network : CompiledNetwork{};
}

// On one core.
inline CompiledNetwork compiled_for(const std::string& target, const Graph& graph) {
  return compiled(graph, options_for(1), *builtin_target(target));
}

inline std::map<std::string, std::size_t> kernels_of(const CompiledNetwork& network) {
  std::map<std::string, std::size_t> counts;
  for (const qaic::Task& task : network.program.tasks)
    ++counts[network.program.kernels[task.kernel]];
  return counts;
}

}  // namespace npuscope::npu::nsp
