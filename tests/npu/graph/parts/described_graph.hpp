// Graphs of written models, and their nodes as "MatMul 1 2 5 7": an operator and the shape that it
// makes.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"

namespace npuscope::npu::test {

inline Graph imported(const GraphText& text) {
  const std::string bytes = model(text);
  const auto graph = import_onnx(as_byte_span(bytes), "m.onnx", {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message);
  return graph ? *graph : Graph{};
}

inline std::vector<std::string> described(const Graph& graph) {
  std::vector<std::string> lines;
  for (const Node& node : graph.nodes) {
    std::string line = node.op;
    for (const std::int64_t extent : graph[node.outputs[0]].shape)
      line += " " + std::to_string(extent);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace npuscope::npu::test
