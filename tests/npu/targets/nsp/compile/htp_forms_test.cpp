// How an HTP keeps weights, images and sequences: what its vendor's compiler showed of them.
#include "npu/graph/parsed_onnx.hpp"
#include "npu/graph/semantics.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/qnn_graph.hpp"

namespace npuscope::npu::nsp::htp_forms_test {
namespace {

std::string ops_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes)
    if (classify(graph, node) != OpClass::folded) text += node.op + " ";
  return text;
}

// The inputs after the first are constants.
Graph with_weights(std::string_view model) {
  Graph graph = parsed(std::string(model));
  for (const TensorId id : std::vector(graph.inputs.begin() + 1, graph.inputs.end()))
    graph[id].constant = true;
  graph.inputs.resize(1);
  return graph;
}

CompiledNetwork compiled(const Graph& graph) { return compiled_for("htp-v73", graph); }

std::string convolution(std::string_view type, int channels, int made, std::string_view weights,
                        std::string_view attributes) {
  return fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model ({0}[1,{1},16,16] x, {0}[{2},{3}] w) => ({0}[1,{2},16,16] y) {{
        y = Conv <{4}> (x, w)
      }})",
                     type, channels, made, weights, attributes);
}

std::uint64_t weight_bytes(const CompiledNetwork& network) {
  return network.metrics.cores[0].ddr_read_constant_bytes;
}

TEST(HtpForms, WeightsLieInBlocksOf32By32AndWholeUnitsOf2KiB) {
  const auto bytes = [](int channels, int made, std::string_view weights, std::string_view how) {
    return weight_bytes(
        compiled(with_weights(convolution("float16", channels, made, weights, how))));
  };
  EXPECT_EQ(bytes(64, 64, "64,3,3", "kernel_shape = [3,3], pads = [1,1,1,1]"), 9u * 64 * 64 * 2);
  EXPECT_EQ(bytes(32, 12, "32,3,3", "kernel_shape = [3,3], pads = [1,1,1,1]"), 9u * 32 * 32 * 2);
  EXPECT_EQ(bytes(48, 12, "48,1,1", "kernel_shape = [1,1]"), 2u * 2048);
}

TEST(HtpForms, DepthwiseWeightsAreTwoChannelsDeepNotAsManyAsABlock) {
  const CompiledNetwork network = compiled(with_weights(convolution(
      "float16", 128, 128, "1,3,3", "kernel_shape = [3,3], pads = [1,1,1,1], group = 128")));
  EXPECT_EQ(weight_bytes(network), 6144u);  // 9 x 2 x 128 x 2 bytes, in units
}

TEST(HtpForms, TakesPlacesAlongOneAxisAsAnImageOfOneRow) {
  const std::string model = R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float16[1,64,128] x, float16[64,1,9] w, float16[32,64,1] v) => (float16[1,32,128] y) {
        a = Conv <kernel_shape = [9], pads = [4,4], group = 64> (x, w)
        y = Conv <kernel_shape = [1]> (a, v)
      })";
  const Graph graph = with_weights(model);
  EXPECT_EQ(ops_of(qnn_graph(graph, true)), "SequenceToLast ZapBorder Conv Conv SequenceToFirst ");
  const auto kernels = kernels_of(compiled(graph));
  EXPECT_FALSE(kernels.contains("aicdepthwiseconvd32"));  // the HMX does it
  EXPECT_FALSE(kernels.contains("aicdepthwiselarged32"));
}

TEST(HtpForms, TheBorderOfASequenceIsMadeOnceForAllThatReadIt) {
  const auto ops = [](int dilation, std::string_view type) {
    return ops_of(qnn_graph(with_weights(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model ({1}[1,64,128] x, {1}[64,64,3] w) => ({1}[1,64,128] y) {{
        a = Conv <kernel_shape = [3], pads = [1,1]> (x, w)
        b = Conv <kernel_shape = [3], pads = [{0},{0}], dilations = [{0}]> (x, w)
        y = Mul (a, b)
      }})",
                                                     dilation, type)),
                            true));
  };
  EXPECT_EQ(ops(1, "float16"), "SequenceToLast JoinBorder Conv Conv Mul SequenceToFirst ");
  EXPECT_EQ(ops(2, "float16"),
            "SequenceToLast JoinBorder Conv JoinBorder Conv Mul SequenceToFirst ");
  EXPECT_EQ(ops(1, "uint8"), "SequenceToLast ZapBorder Conv Conv Mul SequenceToFirst ");
}

TEST(HtpForms, ATransposeBetweenPlacesAndChannelsIsNoWork) {
  const Graph graph = with_weights(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (float16[1,128,64] x, float16[64,64,1] w) => (float16[1,128,64] y) {
        p = Softmax <axis = -1> (x)
        a = Transpose <perm = [0,2,1]> (p)
        b = Conv <kernel_shape = [1]> (a, w)
        c = Transpose <perm = [0,2,1]> (b)
        y = Softmax <axis = -1> (c)
      })");
  const auto kernels = kernels_of(compiled(graph));
  EXPECT_FALSE(kernels.contains("aictransposematrix"));
}

TEST(HtpForms, ChannelsThatASliceTakesInBlocksStayWhereTheyAre) {
  const auto kernels = [](int begin) {
    return kernels_of(compiled(with_weights(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float16[1,96,16,16] x, float16[96,96,1,1] w, float16[32,{0},1,1] v) => (float16[1,32,16,16] y) {{
        begin = Constant <value = int64[1] {{{1}}}> ()
        end = Constant <value = int64[1] {{96}}> ()
        axis = Constant <value = int64[1] {{1}}> ()
        a = Conv <kernel_shape = [1,1]> (x, w)
        b = Slice (a, begin, end, axis)
        y = Conv <kernel_shape = [1,1]> (b, v)
      }})",
                                                        96 - begin, begin))));
  };
  EXPECT_FALSE(kernels(32).contains("aicsplitblocks"));
  EXPECT_TRUE(kernels(48).contains("aicsplitblocks"));
  for (const int begin : {32, 48}) EXPECT_FALSE(kernels(begin).contains("aiccopysamevtcm"));
}

TEST(HtpForms, WideImagesOfIntegersAndWindowsOfOneChannelHaveOperatorsOfTheirOwn) {
  const auto ops = [](std::string_view type, int channels, int side) {
    return ops_of(qnn_graph(with_weights(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model ({0}[1,{1},{2},{2}] x, {0}[64,{1},3,3] w) => ({0}[1,64,{2},{2}] y) {{
        y = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
      }})",
                                                     type, channels, side)),
                            true));
  };
  EXPECT_EQ(ops("uint8", 64, 64), "WideToChannelsLast Conv WideToChannelsFirst ");
  EXPECT_EQ(ops("uint8", 64, 32), "ManyToChannelsLast Conv ManyToChannelsFirst ");
  EXPECT_EQ(ops("float16", 64, 64), "ManyToChannelsLast Conv ManyToChannelsFirst ");
  EXPECT_EQ(ops("uint8", 1, 32), "Im2Col Conv ManyToChannelsFirst ");
}

TEST(HtpForms, RowsOfAProductAndItsBiasLeaveOneAfterTheOther) {
  const auto ops = [](std::string_view before) {
    return ops_of(qnn_graph(with_weights(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (float16[64,128] x, float16[128,128] w, float16[128] b) => (float16[64,128] y) {{
        a = {}
        p = MatMul (a, w)
        y = Add (p, b)
      }})",
                                                     before)),
                            true));
  };
  EXPECT_EQ(ops("Tanh (x)"), "Tanh MatMul Add FromRows ");
  EXPECT_EQ(ops("LayerNormalization (x, b)"), "LayerNormalization MatMul Add ");
}

// In float16 the blocks of both groups are multiplied at once.
TEST(HtpForms, GroupsOfIntegersAreConvolutionsOf16ColumnsEach) {
  const auto products = [](std::string_view type) {
    return kernels_of(
               compiled(with_weights(convolution(
                   type, 64, 64, "16,3,3", "kernel_shape = [3,3], pads = [1,1,1,1], group = 4"))))
        .at("aicconvolutiond32");
  };
  EXPECT_EQ(products("float16"), 2u);  // strips of eight rows
  EXPECT_EQ(products("uint8"), 2u * 4);
}

TEST(HtpForms, TwoImagesThatFitNextToOneAnotherAreNotSpilled) {
  const Graph graph = with_weights(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float16[1,32,96,96] x, float16[192,32,1,1] w, float16[192,1,3,3] d, float16[32,192,1,1] v) => (float16[1,32,96,96] y) {
        r = Relu (x)
        a = Conv <kernel_shape = [1,1]> (r, w)
        b = Conv <kernel_shape = [3,3], pads = [1,1,1,1], group = 192> (a, d)
        c = Conv <kernel_shape = [1,1]> (b, v)
        y = Add (r, c)
      })");
  EXPECT_TRUE(compiled(graph).metrics.spills.empty());
}

TEST(HtpForms, HvxWorksOnAStripWhileTheHmxMakesTheNext) {
  const CompiledNetwork network = compiled(with_weights(R"(
      <ir_version: 8, opset_import: ["" : 13]>
      model (float16[1,32,96,96] x, float16[64,32,3,3] u, float16[64,64,3,3] w, float16[64,64,3,3] v) => (float16[1,64,48,48] y) {
        r = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, u)
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (r, w)
        b = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a)
        y = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (b, v)
      })"));
  const qaic::Program& program = network.program;
  std::vector<std::uint32_t> waits;  // for how many products
  for (const qaic::Task& task : program.tasks) {
    if (program.kernels[task.kernel] != "aicmaxpoold32") continue;
    EXPECT_EQ(task.threads, 1u);  // which keeps up with the HMX
    for (std::uint32_t i = 0; i < task.wait_count; ++i) {
      const qaic::Wait& wait = program.waits[task.wait_begin + i];
      if (wait.queue == std::uint32_t(qaic::ThreadGroup::hmx)) waits.push_back(wait.count);
    }
  }
  ASSERT_GT(waits.size(), 8u);  // of twelve strips
  EXPECT_LT(waits.front() + 8, waits.back());
}

TEST(HtpForms, AnActivationWithoutAProductBeforeItIsAKernelOfItsOwn) {
  const auto kernels = [](std::string_view op, std::string_view of) {
    return kernels_of(compiled(with_weights(fmt::format(R"(
        <ir_version: 8, opset_import: ["" : 17]>
        model (float16[1,64,16,16] x, float16[64,64,1,1] w) => (float16[1,64,16,16] y) {{
          a = Conv <kernel_shape = [1,1]> (x, w)
          b = MaxPool <kernel_shape = [1,1]> (a)
          y = {} ({})
        }})",
                                                        op, of))));
  };
  EXPECT_TRUE(kernels("Tanh", "a").contains("elementtanh"));
  EXPECT_TRUE(kernels("Tanh", "b").contains("elementtanhalone"));
  EXPECT_TRUE(kernels("Exp", "b").contains("elementexp"));
}

TEST(HtpForms, AWindowAsLargeAsTheImageIsItsMean) {
  const auto kernels = [](int extent) {
    return kernels_of(compiled(with_weights(fmt::format(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        model (float16[1,64,8,8] x, float16[64,64,1,1] w) => (float16[1,64,1,1] y) {{
          a = Conv <kernel_shape = [1,1]> (x, w)
          b = AveragePool <kernel_shape = [{0},{0}]> (a)
          y = GlobalMaxPool (b)
        }})",
                                                        extent))));
  };
  EXPECT_TRUE(kernels(8).contains("aicavgpoold32"));
  EXPECT_TRUE(kernels(2).contains("aicavgwindowd32"));
}

// Cycles of the host estimate: 12,984 and 42,529 of float16, 6,403 and 5,281 of integers.
TEST(HtpForms, StridesAlongOneAxisAreOfAnImageOfEightRows) {
  const auto cycles = [](std::string_view type, int stride) {
    const CompiledNetwork network = compiled(with_weights(fmt::format(R"(
        <ir_version: 8, opset_import: ["" : 13]>
        model ({0}[1,128,192] x, {0}[128,128,3] w) => ({0}[1,128,{1}] y) {{
          y = Conv <kernel_shape = [3], pads = [1,1], strides = [{2}]> (x, w)
        }})",
                                                                      type, 192 / stride, stride)));
    std::uint64_t sum = 0;
    for (const qaic::Task& task : network.program.tasks)
      if (network.program.kernels[task.kernel] == "aicconvolutiond32") sum += task.cycles;
    return double(sum);
  };
  EXPECT_NEAR(cycles("float16", 2) / 42529, 1, 0.6);
  EXPECT_LT(cycles("uint8", 2), cycles("uint8", 1));
}

}  // namespace
}  // namespace npuscope::npu::nsp::htp_forms_test
