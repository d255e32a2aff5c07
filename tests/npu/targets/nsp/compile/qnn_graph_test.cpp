// What QNN makes of a graph, and what of it is left to do on an HTP.
#include "npu/targets/nsp/compile/qnn_graph.hpp"

#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/images.hpp"

namespace npuscope::npu::nsp::qnn_graph_test {
namespace {

std::string ops_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    if (classify(graph, node) == OpClass::folded) continue;
    text += fmt::format("{} {}\n", node.op, name_of(graph[node.outputs[0]].type));
  }
  return text;
}

const std::string quantized = R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float[1,32,16,16] x, uint8[64,32,3,3] w, uint8[64,64,1,1] v) => (float[1,64,16,16] y) {
        s = Constant <value_float = 0.5> ()
        z = Constant <value = uint8 {128}> ()
        xq = QuantizeLinear (x, s, z)
        xf = DequantizeLinear (xq, s, z)
        wf = DequantizeLinear (w, s, z)
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (xf, wf)
        aq = QuantizeLinear (a, s, z)
        af = DequantizeLinear (aq, s, z)
        vf = DequantizeLinear (v, s, z)
        b = Conv <kernel_shape = [1,1]> (af, vf)
        bq = QuantizeLinear (b, s, z)
        bf = DequantizeLinear (bq, s, z)
        sum = Add (af, bf)
        sumq = QuantizeLinear (sum, s, z)
        y = DequantizeLinear (sumq, s, z)
      })";

Graph constant_weights(Graph graph) {
  for (const TensorId id : std::vector(graph.inputs.begin() + 1, graph.inputs.end())) {
    graph[id].constant = true;
    for (const NodeId consumer : graph[id].consumers) {
      if (graph[consumer].op != "DequantizeLinear") continue;
      for (const TensorId made : graph[consumer].outputs) graph[made].constant = true;
    }
  }
  graph.inputs.resize(1);
  return graph;
}

// There the program quantises its inputs and makes its outputs floating point; between them nothing
// is left.
TEST(QuantisedNet, OnCloudAi100HadEachQuantizeLinearAsWorkOfItsOwn) {
  const auto kernels = kernels_of(compiled_for("aic100", constant_weights(parsed(quantized))));
  std::size_t conversions = 0;
  for (const auto& [kernel, count] : kernels) {
    if (kernel.find("quant") != kernel.npos || kernel == "convertto") conversions += count;
  }
  const std::size_t threads = builtin_target("aic100")->hvx_threads;
  EXPECT_LE(conversions, 2 * threads) << ::testing::PrintToString(kernels);
  EXPECT_EQ(kernels.at("aicconvolutiond32"), 2u);
}

TEST(QnnGraph, LeavesNoQuantisationOnTheHtp) {
  const Graph graph = constant_weights(parsed(quantized));
  for (const char* target : {"htp-v73", "htp-v75", "htp-v79"}) {
    SCOPED_TRACE(target);
    const CompiledNetwork network = compiled_for(target, graph);
    const auto kernels = kernels_of(network);
    EXPECT_FALSE(kernels.contains("convertto"));
    EXPECT_TRUE(kernels.contains("aicconvolutiond32"));
    EXPECT_EQ(network.metrics.original_macs, 16u * 16 * 64 * (32 * 9 + 64));
    EXPECT_EQ(network.program.input_bytes, 32u * 16 * 16);
    EXPECT_EQ(network.program.output_bytes, 64u * 16 * 16);
  }
  EXPECT_TRUE(kernels_of(compiled_for("aic100", graph)).contains("convertto"));
}

TEST(QnnGraph, CastsFloatingPointThatTheHostGivesAndTakes) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float[128,64] x) => (float[128,64] y) { y = Sigmoid (x) })");
  EXPECT_EQ(ops_of(qnn_graph(graph, true)), "Cast float16\nSigmoid float16\nCast float\n");
  EXPECT_EQ(ops_of(qnn_graph(graph, false)), "Sigmoid float\n");
  EXPECT_EQ(compiled_for("htp-v73", graph).program.input_bytes, 128u * 64 * 4);
}

const char* const strided = R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float[1,3,32,32] x, float[32,3,3,3] w, float[32,3,4,4] v) => (float[1,32,16,16] y, float[1,32,8,8] z) {
        y = Conv <kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2]> (x, w)
        z = Conv <kernel_shape = [4,4], strides = [4,4]> (x, v)
      })";

TEST(QnnGraph, MovesChannelsLastAndSortsPlacesForStrides) {
  EXPECT_EQ(ops_of(qnn_graph(constant_weights(parsed(strided)), true)),
            "CastImage float16\nToChannelsLast float16\n"
            "SpaceToDepthFew float16\nConv float16\n"
            "GatherFewPlaces float16\nConv float16\n"
            "ManyToChannelsFirst float16\nCast float\nManyToChannelsFirst float16\nCast float\n");
}

// A shuffle of channels sees an image in five dimensions: its elements must follow one another.
TEST(QnnGraph, PutsChannelsFirstWhereAnImageIsSeenInAnotherShape) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float16[1,32,8,8] x, float16[32,32,1,1] w) => (float16[1,32,8,8] y) {
        five = Constant <value_ints = [1,4,8,8,8]> ()
        four = Constant <value_ints = [1,32,8,8]> ()
        a = Conv <kernel_shape = [1,1]> (x, w)
        b = Reshape (a, five)
        c = Transpose <perm = [0,2,1,3,4]> (b)
        d = Reshape (c, four)
        y = Conv <kernel_shape = [1,1]> (d, w)
      })");
  EXPECT_EQ(ops_of(qnn_graph(graph, true)),
            "ManyToChannelsLast float16\nConv float16\nPlacesInOrder float16\nReshape float16\n"
            "Transpose float16\nReshape float16\nManyToChannelsLast float16\nConv float16\n"
            "ManyToChannelsFirst float16\n");
}

TEST(QnnGraph, PutsPlacesOfATransposedConvolutionAfterItsLimit) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float16[1,32,8,8] x, float16[32,32,2,2] w) => (float16[1,32,16,16] y) {
        a = ConvTranspose <kernel_shape = [2,2], strides = [2,2]> (x, w)
        y = Relu (a)
      })");
  EXPECT_EQ(ops_of(qnn_graph(graph, true)),
            "ManyToChannelsLast float16\nConvTranspose float16\nRelu float16\n"
            "DepthToSpaceStride2 float16\nManyToChannelsFirst float16\n");
}

TEST(QnnGraph, MakesOneOperatorOfAGateAndOfASumWithItsLimit) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float16[1,32,8,8] x, float16[32,32,1,1] w) => (float16[1,32,8,8] y) {
        a = Conv <kernel_shape = [1,1]> (x, w)
        gate = Sigmoid (a)
        b = Mul (a, gate)
        sum = Add (b, x)
        y = Relu (sum)
      })");
  EXPECT_EQ(ops_of(qnn_graph(graph, true)),
            "ManyToChannelsLast float16\nConv float16\nSwish float16\nAdd float16\n"
            "ManyToChannelsFirst float16\n");
}

// Heads of attention have four dimensions as well.
TEST(FindImages, TellsImagesFromHeads) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float[1,32,8,8] x, float[32,32,1,1] w, float[1,4,8,16] q) => (float[1,32,8,8] y, float[1,4,8,16] p) {
        a = Relu (x)
        b = Conv <kernel_shape = [1,1]> (a, w)
        y = Add (b, a)
        p = Softmax (q)
      })");
  const std::vector<bool> images = find_images(graph);
  std::string found;
  for (std::size_t i = 0; i < images.size(); ++i)
    if (images[i]) found += graph.tensors[i].name + " ";
  EXPECT_EQ(found, "x a b y ");
}

constexpr std::string_view normalized = R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float[1,32,16,16] x, float[64,32,3,3] w) => (float[1,64,16,16] y) {{
        scale = ConstantOfShape <value = float[1] {{1.0}}> (length)
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
        {}
        y = Relu ({})
      }})";

// A normalisation between a convolution and its limit is part of the convolution's weights.
TEST(QnnGraph, FoldsBatchNormalisationIntoTheConvolution) {
  const auto graph = [](bool normalizes) {
    std::string text = fmt::format(
        normalized, normalizes ? "b = BatchNormalization (a, scale, scale, scale, scale)" : "",
        normalizes ? "b" : "a");
    text.insert(text.find("scale ="), "length = Constant <value = int64[1] {64}> ()\n        ");
    return constant_weights(parsed(text));
  };
  for (const char* target : {"htp-v73", "aic100"}) {
    SCOPED_TRACE(target);
    const CompiledNetwork with = compiled_for(target, graph(true));
    const CompiledNetwork without = compiled_for(target, graph(false));
    auto kernels = kernels_of(with);
    EXPECT_EQ(kernels.erase("aicbatchnormd32") + kernels.erase("aicbroadcastadd"), 0u);
    auto others = kernels_of(without);
    EXPECT_EQ(kernels["aiccopytovtcm"], others["aiccopytovtcm"] + 1);  // its shift comes as a bias
    kernels["aiccopytovtcm"] = others["aiccopytovtcm"];
    EXPECT_EQ(kernels, others);
    EXPECT_EQ(with.metrics.original_macs, without.metrics.original_macs);
    EXPECT_EQ(with.metrics.hmx_macs, without.metrics.hmx_macs);
    EXPECT_EQ(with.program.output_bytes, without.program.output_bytes);
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::qnn_graph_test
