// The model as text, one operator a line, as torch-mlir's import of ONNX writes it. Profiling tools
// find operators in it by line.
//
//   module {
//     func.func @main(%arg0: !torch.vtensor<[1,3,224,224],f32>) -> !torch.vtensor<[1,1000],f32> {
//       %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense_resource<__elided__>} …
//       %2 = torch.operator "onnx.Conv"(%arg0, %1) {torch.onnx.group = 1 : si64} …  // conv1
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "npu/graph/graph.hpp"
#include "npu/torq/compile.hpp"

namespace npuscope::npu::torq {

struct SourceText {
  std::string text;
  std::vector<SourcePlace> places;  // by node: of the operator, behind its results
};

SourceText write_source_text(const Graph& graph);

}  // namespace npuscope::npu::torq
