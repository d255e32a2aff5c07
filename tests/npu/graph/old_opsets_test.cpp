// Operators whose older versions mean something else.
#include <gmock/gmock.h>

#include <optional>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/operation.hpp"

namespace npuscope::npu::old_opsets_test {
namespace {

// "Softmax 1 Reshape": operators, and axes of softmaxes.
std::string softmax_of(const std::vector<test::Dimension>& shape, std::optional<std::int64_t> axis,
                       int opset, const ImportOptions& options = {}) {
  test::NodeText node{"Softmax", {"x"}, {"y"}, {}, {}, "scores"};
  if (axis) node.attributes["axis"] = *axis;
  test::GraphText text;
  text.input("x", shape).node(node).output("y");
  const auto graph = import_onnx(as_byte_span(test::model(text, opset)), "m.onnx", options);
  if (!graph) return graph.error().message;
  EXPECT_EQ((*graph)[graph->outputs.at(0)].shape, graph->tensors.front().shape);
  std::string ops;
  for (const Node& each : graph->nodes) {
    ops += (ops.empty() ? "" : " ") + each.op;
    if (each.op != "Softmax") continue;
    EXPECT_EQ(each.name, "scores");
    ops += to_text((*graph)[each.inputs[0]].shape) + std::to_string(each.int_attribute("axis", -1));
  }
  return ops;
}

TEST(OldOpsets, ASoftmaxBeforeOpset13WasOverOneSideAlone) {
  EXPECT_EQ(softmax_of({2, 5, 7}, 1, 11), "Reshape Softmax[2x35]1 Reshape");
  EXPECT_EQ(softmax_of({2, 5, 7}, {}, 12), "Reshape Softmax[2x35]1 Reshape");
  EXPECT_EQ(softmax_of({2, 5, 7}, -3, 11), "Reshape Softmax[1x70]1 Reshape");
  EXPECT_EQ(softmax_of({2, 5, 7}, 2, 11), "Softmax[2x5x7]2");
  EXPECT_EQ(softmax_of({2, 5, 1, 1}, {}, 11), "Softmax[2x5x1x1]1");
  EXPECT_EQ(softmax_of({2, 1, 5}, 1, 11), "Softmax[2x1x5]2");
  EXPECT_EQ(softmax_of({5}, {}, 11), "Softmax[5]0");
  EXPECT_EQ(softmax_of({2, 0, 7}, 1, 11), "Softmax[2x0x7]1");
  EXPECT_EQ(softmax_of({2, 5, 7}, 1, 13), "Softmax[2x5x7]1");
  EXPECT_EQ(softmax_of({2, 5, 7}, {}, 13), "Softmax[2x5x7]-1");
  ImportOptions options;
  options.batch = 4;
  EXPECT_EQ(softmax_of({2, 5, 7}, 1, 11, options), "Reshape Softmax[4x35]1 Reshape");
}

}  // namespace
}  // namespace npuscope::npu::old_opsets_test
