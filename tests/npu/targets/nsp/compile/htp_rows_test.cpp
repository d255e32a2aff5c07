// How an HTP keeps the rows of matrices, and what that costs: what its vendor's compiler showed.
#include "npu/graph/parsed_onnx.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/qnn_graph.hpp"
#include "npu/targets/nsp/compile/single_rows.hpp"

namespace npuscope::npu::nsp::htp_rows_test {
namespace {

// `body`: of x, w and b, makes y. The inputs after the first are constants.
Graph graph_of(std::string_view type, int rows, std::string_view body) {
  Graph graph = parsed(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model ({0}[{1},256] x, {0}[256,256] w, {0}[256] b, {0}[1] beta) => ({0}[{1},256] y) {{
        {2}
      }})",
                                   type, rows, body));
  for (const TensorId id : std::vector(graph.inputs.begin() + 1, graph.inputs.end()))
    graph[id].constant = true;
  graph.inputs.resize(1);
  return graph;
}

CompiledNetwork compiled(const Graph& graph) { return compiled_for("htp-v73", graph); }

std::uint64_t hmx_cycles(const Graph& graph) {
  std::uint64_t cycles = 0;
  const CompiledNetwork network = compiled(graph);
  for (const qaic::Task& task : network.program.tasks)
    if (task.macs > 0) cycles += task.cycles;
  return cycles;
}

bool is_single(std::string_view type, int rows, std::string_view before) {
  const Graph graph = graph_of(type, rows, fmt::format("a = {} y = MatMul (a, w)", before));
  return find_single_rows(graph)[std::uint32_t(graph.outputs[0])];
}

TEST(HtpRows, FewRowsLieInOneRowOfTilesUnlessALayerNormalizationPutsThemByEights) {
  for (const int rows : {2, 8, 16, 25, 32}) EXPECT_TRUE(is_single("float16", rows, "Tanh (x)"));
  for (const int rows : {1, 33, 40, 64}) EXPECT_FALSE(is_single("float16", rows, "Tanh (x)"));
  for (const int rows : {8, 20, 25})
    EXPECT_TRUE(is_single("float16", rows, "LayerNormalization (x, b)"));
  for (const int rows : {16, 32})
    EXPECT_FALSE(is_single("float16", rows, "LayerNormalization (x, b)"));
}

TEST(HtpRows, EightsOfIntegersThatAreNot64LieInOneRow) {
  for (const int rows : {40, 72, 160}) EXPECT_TRUE(is_single("uint8", rows, "Tanh (x)"));
  for (const int rows : {49, 64, 128}) EXPECT_FALSE(is_single("uint8", rows, "Tanh (x)"));
}

TEST(HtpRows, TheHmxComputesEightTimesTheRowsThatLieInOne) {
  const auto cycles = [](int rows) {
    return hmx_cycles(graph_of("float16", rows, "y = MatMul (x, w)"));
  };
  EXPECT_GT(double(cycles(32)), 2.5 * double(cycles(64)));  // as 256 rows
  EXPECT_LT(cycles(8), cycles(32));
}

TEST(HtpRows, ALimitOfFewOrNormalizedRowsIsDoneWithTheirSum) {
  const auto kernels = [](int rows, std::string_view before) {
    return kernels_of(compiled(
        graph_of("float16", rows,
                 fmt::format("a = {} p = MatMul (a, w) s = Add (p, b) y = Relu (s)", before))));
  };
  EXPECT_TRUE(kernels(64, "Tanh (x)").contains("elementmax"));
  EXPECT_FALSE(kernels(64, "LayerNormalization (x, b)").contains("elementmax"));
  EXPECT_FALSE(kernels(32, "Tanh (x)").contains("elementmax"));
}

TEST(HtpRows, ActivationsOfRowsThatDoNotFillEightsHaveKernelsOfTheirOwn) {
  const auto kernels = [](int rows, std::string_view op) {
    return kernels_of(
        compiled(graph_of("float16", rows, fmt::format("p = MatMul (x, w) y = {} (p)", op))));
  };
  EXPECT_TRUE(kernels(77, "Tanh").contains("elementtanhrows"));
  EXPECT_TRUE(kernels(77, "Sigmoid").contains("elementsigmoidrows"));
  for (const int rows : {20, 80}) EXPECT_FALSE(kernels(rows, "Tanh").contains("elementtanhrows"));
}

std::string ops_of(const Graph& graph) {
  std::string text;
  for (const Node& node : qnn_graph(graph, true).nodes) text += node.op + " ";
  return text;
}

constexpr std::string_view swish =
    "p = MatMul (x, w) m = Mul (p, beta) s = Sigmoid (m) y = Mul (p, s)";

TEST(HtpRows, ASwishWithBetaIsOneOperatorOfFloatsAndATableOfIntegers) {
  EXPECT_EQ(ops_of(graph_of("float16", 77, swish)), "MatMul SwishBeta ");
  EXPECT_EQ(ops_of(graph_of("uint8", 80, swish)), "MatMul Sigmoid Mul ");
  EXPECT_EQ(ops_of(graph_of("float16", 77,
                            "p = MatMul (x, w) m = Mul (p, b) s = Sigmoid (m) y = Mul (p, s)")),
            "MatMul Mul Sigmoid Mul ");  // of a value for each column
  const auto kernels = [](int rows) {
    return kernels_of(compiled(graph_of("float16", rows, swish)));
  };
  EXPECT_TRUE(kernels(77).contains("elementswishbetarows"));
  EXPECT_TRUE(kernels(80).contains("elementswishbeta"));
}

TEST(HtpRows, ASwishWithBetaOfAConvolutionConvolvesAgain) {
  Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (float16[1,64,8,8] x, float16[64,64,1,1] w, float16[1] beta) => (float16[1,64,8,8] y) {
        c = Conv <kernel_shape = [1,1]> (x, w)
        m = Mul (c, beta)
        s = Sigmoid (m)
        y = Mul (c, s)
      })");
  graph[graph.inputs[1]].constant = graph[graph.inputs[2]].constant = true;
  graph.inputs.resize(1);
  EXPECT_EQ(ops_of(graph), "ManyToChannelsLast Conv Conv Sigmoid Mul ManyToChannelsFirst ");
  EXPECT_EQ(compiled(graph).metrics.cores[0].ddr_read_constant_bytes, 2u * 64 * 64 * 2);
}

// Attention of integers over an image or over rows, by what makes the values' bias.
std::map<std::string, std::size_t> kernels_of_heads(int rows, std::string_view before,
                                                    std::string_view x) {
  Graph graph = parsed(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (uint8[{1}] x, uint8[128,128] w, uint8[128] b, uint8[1,{0},128] q) => (uint8[1,4,{0},32] y) {{
        heads = Constant <value = int64[4] {{1, {0}, 4, 32}}> ()
        {2}
        p = MatMul (a, w)
        s = Add (p, b)
        v = Reshape (s, heads)
        t = Transpose <perm = [0,2,1,3]> (v)
        u = Reshape (q, heads)
        k = Transpose <perm = [0,2,3,1]> (u)
        h = MatMul (t, k)
        m = Softmax <axis = -1> (h)
        y = MatMul (m, t)
      }})",
                                   rows, x, before));
  for (const TensorId id : {graph.inputs[1], graph.inputs[2]}) graph[id].constant = true;
  graph.inputs = {graph.inputs[0], graph.inputs[3]};
  return kernels_of(compiled(graph));
}

TEST(HtpRows, ABiasOfIntegersIsAddedHeadByHead) {
  EXPECT_TRUE(
      kernels_of_heads(128, "a = LayerNormalization (x, b)", "1,128,128").contains("aicaddheads"));
  EXPECT_TRUE(
      kernels_of_heads(100, "a = LayerNormalization (x, b)", "1,100,128").contains("aicaddrows"));
}

TEST(HtpRows, ADivisionByRowsOfWhatLeavesTheNetworkTakesLonger) {
  const auto kernels = [](std::string_view after) {
    return kernels_of(compiled(graph_of(
        "uint8", 64,
        fmt::format("m = ReduceMean <axes = [-1], keepdims = 1> (x) d = Div (x, m) {}", after))));
  };
  EXPECT_TRUE(kernels("y = Mul (d, b)").contains("aicdivlastrows"));
  EXPECT_TRUE(kernels("s = Mul (d, b) y = MatMul (s, w)").contains("aicdivrows"));
}

TEST(HtpRows, ATransposeToOrFromShortRunsMovesElementByElement) {
  const auto kernels = [](int last) {
    Graph graph = parsed(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (float16[24,12,2,{0}] x) => (float16[24,2,12,{0}] y) {{
        a = Tanh (x)
        y = Transpose <perm = [0,2,1,3]> (a)
      }})",
                                     last));
    return kernels_of(compiled(graph));
  };
  EXPECT_TRUE(kernels(2).contains("aictransposepairs"));
  EXPECT_TRUE(kernels(4).contains("aictransposefours"));
  EXPECT_TRUE(kernels(24).contains("aictransposerows"));
}

// Its order was looked for at the end of an empty list.
TEST(HtpRows, ATransposeWithoutAnOrderTurnsAllSides) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (uint8[1,64,128] x, uint8[32,4,8,64] left, uint8[128,128] w, uint8[128] b)
          => (uint8[32,4,8,1] y) {
        p = MatMul (x, w)
        a = Add (p, b)
        s = Constant <value_ints = [1,64,4,32]> ()
        r = Reshape (a, s)
        v = Transpose (r)
        y = MatMul (left, v)
      })");
  EXPECT_FALSE(compiled(graph).program.tasks.empty());
}

// The second sum read what the first no longer made.
TEST(HtpRows, ASumOfATurnedSumIsNotTurned) {
  const Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (float16[1,64,48] a, float16[1,48,64] x, float16[1,64,48] z) => (float16[1,64,48] y) {
        t = Relu (a)
        ta = Transpose <perm = [0,2,1]> (t)
        s1 = Add (x, ta)
        t2 = Transpose <perm = [0,2,1]> (s1)
        s2 = Add (z, t2)
        y = Relu (s2)
      })");
  EXPECT_FALSE(compiled(graph).program.tasks.empty());
}

// Weights that the network is given were copied without anybody to make the copy.
TEST(HtpRows, ASwishOfWeightsThatAreInputsReadsThemTwice) {
  Graph graph = parsed(R"(
      <ir_version: 8, opset_import: ["" : 17]>
      model (float16[1,64,8,8] x, float16[64,64,1,1] w, float16[1] beta)
          => (float16[1,64,8,8] y) {
        c = Conv <kernel_shape = [1,1]> (x, w)
        m = Mul (c, beta)
        s = Sigmoid (m)
        y = Mul (c, s)
      })");
  graph[graph.inputs[2]].constant = true;
  graph.inputs.resize(2);
  EXPECT_FALSE(compiled(graph).program.tasks.empty());
}

}  // namespace
}  // namespace npuscope::npu::nsp::htp_rows_test
