// What of QuantizeLinear and DequantizeLinear is left, and which types tensors have then.
#include "npu/graph/fold_quantization.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::fold_quantization_test {
namespace {

constexpr std::string_view constants = R"(
        s = Constant <value_float = 0.5> ()
        z = Constant <value = uint8 {128}> ()
        t = Constant <value_float = 0.25> ()
)";

Graph parsed(std::string_view signature, std::string_view nodes) {
  return npu::parsed(fmt::format("<ir_version: 8, opset_import: [\"\" : 13]>\nmodel {} {{ {}{} }}",
                                 signature, constants, nodes));
}

// "Conv(xq, wq) -> yq": nodes that execute, with a scale in brackets where a tensor has one.
std::string executed(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    if (classify(graph, node) == OpClass::folded) continue;
    std::string operands;
    for (const TensorId id : node.inputs) {
      if (id == TensorId::none || (graph[id].constant && graph[id].elements() < 2)) continue;
      operands += fmt::format("{}{} {}", operands.empty() ? "" : ", ", graph[id].name,
                              name_of(graph[id].type));
    }
    const Tensor& made = graph[node.outputs[0]];
    text += fmt::format("{}({}) -> {} {}{}\n", node.op, operands, made.name, name_of(made.type),
                        made.scale ? fmt::format(" [{}]", made.scale->step) : "");
  }
  return text;
}

std::string names_of(const Graph& graph, const std::vector<TensorId>& ids) {
  std::string text;
  for (const TensorId id : ids) text += graph[id].name + " ";
  return text;
}

Graph relu_of_a_product() {
  return parsed("(float[2,32] x, uint8[32,32] wq) => (float[2,32] y)", R"(
        xq = QuantizeLinear (x, s, z)
        xf = DequantizeLinear (xq, s, z)
        wf = DequantizeLinear (wq, t, z)
        p = MatMul (xf, wf)
        r = Relu (p)
        rq = QuantizeLinear (r, t, z)
        y = DequantizeLinear (rq, t, z)
)");
}

TEST(FoldQuantization, LeavesOperatorsOnIntegers) {
  const Graph folded = fold_quantization(relu_of_a_product(), true);
  EXPECT_EQ(executed(folded),
            "MatMul(xq ui8, wq ui8) -> p ui8\n"
            "Relu(p ui8) -> rq ui8 [0.25]\n");
  EXPECT_EQ(names_of(folded, folded.inputs), "xq wq ");
  EXPECT_EQ(names_of(folded, folded.outputs), "rq ");
}

TEST(FoldQuantization, KeepsWhatTheHostDoesNotDo) {
  const Graph folded = fold_quantization(relu_of_a_product(), false);
  EXPECT_EQ(executed(folded),
            "QuantizeLinear(x float) -> xq ui8 [0.5]\n"
            "MatMul(xq ui8, wq ui8) -> p ui8\n"
            "Relu(p ui8) -> rq ui8 [0.25]\n"
            "DequantizeLinear(rq ui8) -> y float\n");
}

TEST(FoldQuantization, KeepsTheProductsAndTheirSizes) {
  const Graph graph = relu_of_a_product();
  const Graph folded = fold_quantization(graph, true);
  const auto macs = [](const Graph& of) {
    std::uint64_t sum = 0;
    for (const Node& node : of.nodes) sum += multiply_accumulates(of, node);
    return sum;
  };
  EXPECT_EQ(macs(folded), 2u * 32 * 32);
  EXPECT_EQ(macs(folded), macs(graph));
}

// A sum with a tensor in floating point is one in floating point.
TEST(FoldQuantization, LeavesWhatWorksInFloatingPointAlone) {
  const Graph graph = parsed("(uint8[2,32] xq, float[2,32] b) => (uint8[2,32] yq)", R"(
        xf = DequantizeLinear (xq, s, z)
        sum = Add (xf, b)
        yq = QuantizeLinear (sum, s, z)
)");
  EXPECT_EQ(executed(fold_quantization(graph, true)),
            "DequantizeLinear(xq ui8) -> xf float\n"
            "Add(xf float, b float) -> sum float\n"
            "QuantizeLinear(sum float) -> yq ui8 [0.5]\n");
}

// Only the weights are quantised.
TEST(FoldQuantization, LeavesProductsOfFloatingPointAlone) {
  const Graph graph = parsed("(float[2,32] x, uint8[32,32] wq) => (float[2,32] y)", R"(
        wf = DequantizeLinear (wq, t, z)
        y = MatMul (x, wf)
)");
  EXPECT_EQ(executed(fold_quantization(graph, true)), executed(graph));
}

TEST(FoldQuantization, OfOtherGraphsChangesNothing) {
  const Graph graph = parsed("(float[2,32] x) => (float[2,32] y)", "y = Relu (x)");
  EXPECT_EQ(executed(fold_quantization(graph, true)), "Relu(x float) -> y float\n");
}

TEST(Connect, FindsProducersAndConsumersAgain) {
  Graph graph = relu_of_a_product();
  const Graph before = graph;
  for (Tensor& tensor : graph.tensors) {
    tensor.producer = NodeId::none;
    tensor.consumers = {NodeId(0), NodeId(0)};
  }
  connect(graph);
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    EXPECT_EQ(graph.tensors[i].producer, before.tensors[i].producer);
    EXPECT_EQ(graph.tensors[i].consumers, before.tensors[i].consumers);
  }
}

TEST(LimitsOfSums, GoAwayBetweenIntegers) {
  const std::string_view sum = R"(
        a = DequantizeLinear(p, s, z)
        b = DequantizeLinear(q, s, z)
        c = Add(a, b)
        d = Relu(c)
        y = QuantizeLinear(d, s, z)
)";
  const Graph graph = parsed("(uint8[4] p, uint8[4] q) => (uint8[4] y)", sum);
  EXPECT_EQ(executed(without_limits_of_sums(fold_quantization(graph, false))),
            "Add(p ui8, q ui8) -> y ui8 [0.5]\n");
  const Graph other = parsed("(float[4] c) => (float[4] e)", "e = Relu(c)\n");
  EXPECT_EQ(executed(without_limits_of_sums(other)), "Relu(c float) -> e float\n");
}

}  // namespace
}  // namespace npuscope::npu::fold_quantization_test
