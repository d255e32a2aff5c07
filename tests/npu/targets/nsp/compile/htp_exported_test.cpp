// Operators that exporters write as several, and what an HTP's compiler makes of them.
#include "npu/graph/parts/parts.hpp"
#include "npu/targets/nsp/compile/qnn_ops.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"

namespace npuscope::npu::nsp::htp_exported_test {
namespace {

std::map<std::string, std::size_t> kernels_for_htp(const Graph& graph) {
  return kernels_of(compiled_for("htp-v73", graph));
}

const std::string norm_inputs = "float[1,16,64] x, float e, float[64] scale, float[64] bias";
std::string norm(std::string_view square) {
  return fmt::format(R"(
    two = Constant <value = float {{2}}> ()
    four = Constant <value = float {{4}}> ()
    m = ReduceMean <axes = [-1]> (x)
    d = Sub (x, m)
    q = {}
    v = ReduceMean <axes = [2]> (q)
    ve = Add (v, e)
    r = Sqrt (ve)
    n = Div (d, r)
    s = Mul (n, scale)
    y = Add (s, bias)
  )",
                     square);
}

TEST(HtpExported, LayerNormalizationInPartsWasNineOperators) {
  for (const std::string_view square : {"Pow (d, two)", "Mul (d, d)"}) {
    EXPECT_EQ(ops_of(graph_of(norm_inputs, "float[1,16,64] y", norm(square))),
              "Cast LayerNormalization Cast ")
        << square;
  }
}

TEST(HtpExported, APowerThatIsNoSquareWasALayerNormalization) {
  const std::string ops = ops_of(graph_of(norm_inputs, "float[1,16,64] y", norm("Pow (d, four)")));
  EXPECT_EQ(ops.find("LayerNormalization"), ops.npos) << ops;
}

TEST(HtpExported, PartsOfANormThatAreReadElsewhereStay) {
  const std::string body = norm("Pow (d, two)");
  const std::string ops =
      ops_of(graph_of(norm_inputs, "float[1,16,64] z",
                      body.substr(0, body.find("y = Add")) + "y = Add (s, bias)\n z = Add (y, d)"));
  EXPECT_EQ(ops.find("LayerNormalization"), ops.npos) << ops;
  EXPECT_NE(ops.find("Sqrt"), ops.npos) << ops;
}

std::string half_of_tanh(std::string_view inner) {
  return ops_of(graph_of("float[1,16,64] x, float c, float k, float half, float one",
                         "float[1,16,64] y",
                         fmt::format(R"(
    two = Constant <value = float {{2}}> ()
    three = Constant <value = float {{3}}> ()
    {}
    t = Tanh (inner)
    shifted = Add (t, one)
    halved = Mul (x, half)
    y = Mul (halved, shifted)
  )",
                                     inner)));
}

TEST(HtpExported, GeluByTanhWasEightOperators) {
  const std::string rest = "cp = Mul (p, c)\n sum = Add (x, cp)\n inner = Mul (sum, k)";
  EXPECT_EQ(half_of_tanh("p = Pow (x, three)\n" + rest), "Cast Gelu Cast ");
  EXPECT_EQ(half_of_tanh("q = Mul (x, x)\n p = Mul (q, x)\n" + rest), "Cast Gelu Cast ");
}

TEST(HtpExported, ATanhOfAnotherDegreeWasAGelu) {
  for (const char* inner :
       {"inner = Mul (x, k)", "p = Pow (x, two)\n cp = Mul (p, c)\n inner = Add (x, cp)"}) {
    const std::string ops = half_of_tanh(inner);
    EXPECT_EQ(ops.find("Gelu"), ops.npos) << ops;
  }
}

TEST(HtpExported, TanhOfAnotherTensorIsNoGelu) {
  const std::string ops =
      ops_of(graph_of("float[1,16,64] x, float k, float half, float one", "float[1,16,64] y", R"(
    other = Sigmoid (x)
    inner = Mul (other, k)
    t = Tanh (inner)
    shifted = Add (t, one)
    halved = Mul (x, half)
    y = Mul (halved, shifted)
  )"));
  EXPECT_EQ(ops.find("Gelu"), ops.npos) << ops;
}

TEST(HtpExported, GroupNormalizationWasAReshapeToGroupsAndBack) {
  const Graph made =
      qnn_graph(graph_of("float[1,32,8,8] x, float[4] ones, float[4] zeros, float[32,1,1] scale, "
                         "float[32,1,1] bias, float[32,32,1,1] w",
                         "float[1,32,8,8] y", R"(
    c = Conv <kernel_shape = [1,1]> (x, w)
    to = Constant <value = int64[3] {1, 4, 512}> ()
    back = Constant <value = int64[4] {1, 32, 8, 8}> ()
    g = Reshape (c, to)
    n = InstanceNormalization (g, ones, zeros)
    i = Reshape (n, back)
    s = Mul (i, scale)
    y = Add (s, bias)
  )"),
                true);
  std::size_t norms = 0;
  for (const Node& node : made.nodes) {
    EXPECT_NE(node.op, "InstanceNormalization");
    if (node.op == "GroupNormalization") ++norms;
  }
  EXPECT_EQ(norms, 1u);
}

std::string padded(std::string_view values, std::string_view mode = "constant") {
  return fmt::format(R"(
    p = Constant <value = int64[8] {{{}}}> ()
    a = Pad <mode = "{}"> (x, p)
    y = Conv <kernel_shape = [3,3]> (a, w)
  )",
                     values, mode);
}

TEST(HtpExported, APadBeforeAConvolutionWasWorkOfItsOwn) {
  const auto graph = [](std::string_view values, std::string_view mode) {
    return graph_of("float[1,32,16,16] x, float[32,32,3,3] w", "float[1,32,16,16] y",
                    padded(values, mode));
  };
  EXPECT_EQ(ops_of(graph("0,0,1,1,0,0,1,1", "constant")).find("Pad"), std::string::npos);
  EXPECT_NE(ops_of(graph("0,0,1,1,0,0,1,1", "reflect")).find("Pad"), std::string::npos);
  const auto whole = compiled_for("htp-v73", graph("0,0,1,1,0,0,1,1", "constant"));
  EXPECT_EQ(whole.metrics.original_macs, 16u * 16 * 32 * 32 * 9);
}

TEST(HtpExported, APadThatIsDataAndWeightsOfAConvolutionWasTakenFromItsWeights) {
  const std::string ops = ops_of(graph_of("float[1,32,16,16] x", "float[1,1,1,1] y", R"(
    p = Constant <value = int64[8] {0,0,1,1,0,0,1,1}> ()
    a = Pad (x, p)
    y = Conv (a, a)
  )"));
  EXPECT_NE(ops.find("Pad"), ops.npos) << ops;
}

TEST(HtpExported, ChannelsAfterThoseOfAnImageAreThereAlready) {
  const auto kernels = kernels_for_htp(
      graph_of("float[1,32,16,16] x, float[24,32,1,1] w, float[32,24,1,1] v", "float[1,32,16,16] y",
               R"(
    c = Conv <kernel_shape = [1,1]> (x, w)
    d = Conv <kernel_shape = [1,1]> (c, v)
    p = Constant <value = int64[8] {0,0,0,0,0,8,0,0}> ()
    a = Pad (c, p)
    s = Add (a, d)
    y = Relu (s)
  )"));
  EXPECT_FALSE(kernels.contains("aiccopysamevtcm")) << ::testing::PrintToString(kernels);
}

TEST(HtpExported, AMirroredBorderStaysInItsTiles) {
  const auto kernels = kernels_for_htp(graph_of(
      "float[1,32,32,32] x, float[32,32,1,1] u, float[32,32,3,3] w", "float[1,32,32,32] y",
      "b = Conv <kernel_shape = [1,1]> (x, u)\n p = Constant <value = int64[8] "
      "{0,0,1,1,0,0,1,1}> ()\n a = Pad <mode = \"reflect\"> (b, p)\n y = Conv <kernel_shape = "
      "[3,3]> (a, w)"));
  EXPECT_TRUE(kernels.contains("aicmirrord32")) << ::testing::PrintToString(kernels);
}

TEST(HtpExported, ColumnsSplitOffAProductWereCopied) {
  const auto kernels =
      kernels_for_htp(graph_of("float[1,64,64] x, float[64,128] w", "float[1,64,64] y", R"(
    p = MatMul (x, w)
    a, b = Split <axis = -1> (p)
    y = Mul (a, b)
  )"));
  EXPECT_FALSE(kernels.contains("aiccopysamevtcm")) << ::testing::PrintToString(kernels);
}

TEST(HtpExported, IntegersDividedByAConstantWereWork) {
  const auto ops = [](std::string_view type) {
    return ops_of(graph_of(fmt::format("{0}[1,16,64] x, {0} c", type),
                           fmt::format("{}[1,16,64] y", type), "a = Mul (x, x)\n y = Div (a, c)"));
  };
  EXPECT_EQ(ops("uint8").find("Div"), std::string::npos);
  EXPECT_NE(ops("float16").find("Div"), std::string::npos);
}

TEST(HtpExported, SoftmaxAlongChannelsWasOneOfRows) {
  const auto kernels = kernels_for_htp(
      graph_of("float[1,32,16,16] x, float[32,32,1,1] w", "float[1,32,16,16] y",
               "a = Conv <kernel_shape = [1,1]> (x, w)\n y = Softmax <axis = 1> (a)"));
  EXPECT_TRUE(kernels.contains("aicsoftmaxchannels")) << ::testing::PrintToString(kernels);
}

TEST(HtpExported, AnActivationAfterASumOfImagesWasAKernelOfItsOwn) {
  const auto kernels = kernels_for_htp(graph_of(
      "float[1,32,16,16] x, float[32,32,1,1] w, float[32,32,3,3] v", "float[1,32,16,16] y", R"(
    a = Conv <kernel_shape = [1,1]> (x, w)
    b = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, v)
    s = Add (a, b)
    y = Sigmoid (s)
  )"));
  EXPECT_FALSE(kernels.contains("elementsigmoidalone")) << ::testing::PrintToString(kernels);
  EXPECT_TRUE(kernels.contains("elementsigmoid")) << ::testing::PrintToString(kernels);
}

TEST(HtpExported, OneChannelOfATransposedConvolutionWasPaddedTo32) {
  const auto graph = [](int channels) {
    return graph_of(fmt::format("float[1,32,32,32] x, float[32,{},2,2] w", channels),
                    fmt::format("float[1,{},64,64] y", channels),
                    "a = ConvTranspose <kernel_shape = [2,2], strides = [2,2]> (x, w)\n y = "
                    "Sigmoid (a)");
  };
  EXPECT_NE(ops_of(graph(1)).find("DepthToSpaceFlat "), std::string::npos);
  EXPECT_NE(ops_of(graph(32)).find("DepthToSpaceStride2 "), std::string::npos);
  const auto macs = [&](int channels) {
    std::uint64_t sum = 0;
    for (const qaic::Task& task : compiled_for("htp-v73", graph(channels)).program.tasks)
      sum += task.macs;
    return sum;
  };
  EXPECT_LE(macs(1) * 3, macs(32));
}

TEST(HtpExported, ASequenceWithoutABorderGotOne) {
  const auto ops = [](int pad) {
    return ops_of(graph_of(
        "float16[1,64,128] x, float16[64,64,3] w", fmt::format("float16[1,64,{}] y", 126 + 2 * pad),
        fmt::format("a = Conv <kernel_shape = [3], pads = [{0},{0}]> (x, w)\n y = Mul (a, a)",
                    pad)));
  };
  EXPECT_EQ(ops(0), "SequenceToLast Conv Mul SequenceToFirst ");
  EXPECT_EQ(ops(1), "SequenceToLast JoinBorder Conv Mul SequenceToFirst ");
}

TEST(HtpExported, ColumnsThatDoNotFillABlockWerePutOutAsThoseOfAWholeOne) {
  const Target target = *builtin_target("htp-v73");
  const auto cycles = [&](std::uint64_t columns) {
    MatrixProduct product;
    product.depth = 64;
    product.columns = columns;
    return hmx_work(target, product, 512, columns, false, true).cycles;
  };
  EXPECT_LT(cycles(40), cycles(64));
  EXPECT_EQ(cycles(20), cycles(32));
}

TEST(HtpExported, GatesOfAnLstmAreProductsOfTheirOwn) {
  const Graph graph = graph_of("float[3,1,40] x, float[1,256,40] w, float[1,256,64] r",
                               "float[3,1,1,64] y", "y = LSTM <hidden_size = 64> (x, w, r)");
  const auto products = [&](Gates gates) {
    const auto parts = taken_apart(graph, gates);
    return parts ? std::ranges::count(parts->nodes, "MatMul", &Node::op) : 0;
  };
  EXPECT_EQ(products(Gates::joined), 1 + 3);
  EXPECT_EQ(products(Gates::apart), 3 * 8);
  const auto kernels = kernels_for_htp(graph);
  EXPECT_FALSE(kernels.contains("elementsigmoidonerow")) << ::testing::PrintToString(kernels);
}

}  // namespace
}  // namespace npuscope::npu::nsp::htp_exported_test
