// A graph out of a model in ONNX's text form, as in tests of single operators and small networks.
#pragma once

#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <string>

#include "npu/graph/import_onnx.hpp"
#include "npuscope/base/files.hpp"

namespace npuscope::npu {

inline Graph parsed(const std::string& text) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  const auto status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << "\n" << text;
  const std::string bytes = model.SerializeAsString();
  auto graph = import_onnx(as_byte_span(bytes), "text", {});
  EXPECT_TRUE(graph) << (graph ? "" : graph.error().message) << "\n" << text;
  return graph ? *graph : Graph{};
}

}  // namespace npuscope::npu
