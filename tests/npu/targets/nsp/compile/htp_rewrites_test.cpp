// What an HTP's compiler makes of operators that it has no kernel for as they are.
#include "npu/targets/nsp/compile/qnn_ops.hpp"
#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

namespace npuscope::npu::nsp::htp_rewrites_test {
namespace {

// Deployed networks of PaddlePaddle write activations so. (The quantised ones are `uint8` here: a
// type, not a scale.)
TEST(HtpRewrites, FunctionsOfIntegersAreOneTable) {
  const auto ops = [](std::string_view type, std::string_view body) {
    return ops_of(
        graph_of(fmt::format("{0}[1,32,8,8] x, {0}[1] a, {0}[1] b, {0}[1,32,1,1] c", type),
                 fmt::format("{}[1,32,8,8] y", type), body));
  };
  const std::string_view scaled = "s = Mul (a, x) y = Add (s, b)";
  EXPECT_EQ(ops("uint8", scaled), "Add ");
  EXPECT_EQ(ops("float16", scaled), "Mul Add ");
  EXPECT_EQ(ops("uint8", "g = Sigmoid (x) y = Mul (g, a)"), "Sigmoid ");
  EXPECT_EQ(ops("uint8", "g = Add (x, c) y = Add (g, a)"),  // a number for each channel is no table
            "Add Add ");
  EXPECT_EQ(ops("uint8", "g = Add (x, a) h = Mul (g, b) y = Mul (h, g)"),  // read twice
            "Add Mul Mul ");
}

// 3 + x stood in no tiles where x + 3 does.
TEST(HtpRewrites, AConstantInFrontIsTheSameSum) {
  const auto cycles = [](std::string_view sum) {
    return compiled_for("htp-v73",
                        graph_of("float16[1,64,40,40] x, float16[1] a, float16[64,64,1,1] w",
                                 "float16[1,64,40,40] y",
                                 fmt::format("r = Relu (x) s = {} "
                                             "y = Conv <kernel_shape = [1,1]> (s, w)",
                                             sum)))
        .metrics.cores[0]
        .hvx_cycles;
  };
  EXPECT_EQ(cycles("Add (a, r)"), cycles("Add (r, a)"));
  EXPECT_EQ(cycles("Mul (a, r)"), cycles("Mul (r, a)"));
}

// As measured: a number added to a convolution is an operator of its own in floating point, one for
// each channel is its bias, and after a limit nothing is.
TEST(HtpRewrites, WhatAConvolutionTakesIn) {
  const auto fates = [](std::string_view body) {
    const Graph graph =
        qnn_graph(graph_of("float16[1,32,8,8] x, float16[32,32,1,1] w, float16[1] a, "
                           "float16[32,1,1] c, float16[1,1,1,8] d",
                           "float16[1,32,8,8] y",
                           fmt::format("p = Conv <kernel_shape = [1,1]> (x, w) {}", body)),
                  true);
    std::string text;
    const auto plans = plan_nodes(graph, true);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].fate == NodeFate::fused) text += graph.nodes[i].op + " ";
    }
    return text;
  };
  EXPECT_EQ(fates("y = Mul (p, a)"), "Mul ");
  EXPECT_EQ(fates("y = Mul (p, c)"), "Mul ");
  EXPECT_EQ(fates("y = Mul (p, d)"), "");  // one for each column
  EXPECT_EQ(fates("y = Add (p, d)"), "");
  EXPECT_EQ(fates("y = Add (p, c)"), "Add ");
  EXPECT_EQ(fates("y = Add (p, a)"), "");
  EXPECT_EQ(fates("r = Relu (p) y = Mul (r, a)"), "Relu ");
  EXPECT_EQ(fates("r = Relu (p) y = Add (r, c)"), "Relu ");
}

// A Fourier transform as a convolution: 128 places of a step are channels, two steps its window.
TEST(HtpRewrites, WideStepsAlongOneAxisAreChannels) {
  const auto ops = [](int channels, int window, int stride) {
    return ops_of(graph_of(
        fmt::format("float16[1,{0},640] x, float16[258,{0},{1}] w", channels, window),
        fmt::format("float16[1,258,{}] y", (640 - window) / stride + 1),
        fmt::format("y = Conv <kernel_shape = [{}], strides = [{}]> (x, w)", window, stride)));
  };
  EXPECT_EQ(ops(1, 256, 128), "SequenceToLast GatherFewPlaces Conv SequenceToFirst ");
  EXPECT_EQ(ops(4, 16, 8), "SequenceToLast GatherFewPlaces Conv SequenceToFirst ");
  EXPECT_EQ(ops(1, 10, 5),
            "SequenceToLast SpaceToDepthLarge Conv SequenceToFirst ");  // too few to fill anything
  EXPECT_EQ(ops(32, 16, 8), "SequenceToLast SpaceToDepthLarge Conv SequenceToFirst ");
  const CompiledNetwork network = compiled_for(
      "htp-v73", graph_of("float16[1,1,640] x, float16[258,1,256] w", "float16[1,258,4] y",
                          "y = Conv <kernel_shape = [256], strides = [128]> (x, w)"));
  EXPECT_LT(network.metrics.cores[0].ddr_read_constant_bytes,
            258u * 256 * 2 * 5 / 4);  // it was thirty times that
}

// TensorFlow gives its images with channels last: their first convolution took three times the
// estimate.
TEST(HtpRewrites, WindowsOfAnImageWithChannelsLastAreChannels) {
  const auto ops = [](int extent, int stride, int channels, std::string_view perm = "0,3,1,2") {
    const int made = (32 - extent) / stride + 1;
    return ops_of(
        graph_of(fmt::format("float[1,32,32,{0}] x, float[16,{0},{1},{1}] w", channels, extent),
                 fmt::format("float[1,16,{0},{0}] y", made),
                 fmt::format("t = Transpose <perm = [{}]> (x) "
                             "y = Conv <kernel_shape = [{}, {}], strides = [{}, {}]> (t, w)",
                             perm, extent, extent, stride, stride)));
  };
  EXPECT_EQ(ops(3, 2, 3), "GatherColumns Conv ToChannelsFirst Cast ");
  EXPECT_EQ(ops(3, 1, 3), "GatherColumns Conv ToChannelsFirst Cast ");
  EXPECT_EQ(ops(7, 2, 3), "GatherWideColumns Conv ToChannelsFirst Cast ");
  EXPECT_EQ(ops(5, 1, 3), "Cast Transpose Conv ToChannelsFirst Cast ");  // none for these
  EXPECT_EQ(ops(3, 2, 8), "Cast Transpose SpaceToDepthStride2 Conv ToChannelsFirst Cast ");
  const Graph graph =
      qnn_graph(graph_of("float[1,224,224,3] x, float[64,3,7,7] w", "float[1,64,112,112] y",
                         "t = Transpose <perm = [0,3,1,2]> (x) y = Conv <kernel_shape = [7,7], "
                         "strides = [2,2], pads = [3,3,3,3]> (t, w)"),
                true);
  const auto conv = std::ranges::find(graph.nodes, "Conv", &Node::op);
  ASSERT_NE(conv, graph.nodes.end());
  EXPECT_EQ(graph[conv->inputs[0]].shape, (Shape{1, 30, 115, 113}));  // as the estimate has them
  EXPECT_EQ(graph[conv->inputs[1]].shape, (Shape{64, 30, 4, 2}));
  EXPECT_EQ(graph[conv->inputs[0]].type, DataType::float16);
}

// The host quantised what it had turned; the Transpose of floating point ran on the HTP.
TEST(HtpRewrites, AnImageIsQuantisedBeforeItIsTurned) {
  EXPECT_EQ(ops_of(graph_of("float[1,32,32,3] x, float s, uint8 z, uint8[16,3,3,3] w",
                            "uint8[1,16,15,15] y",
                            R"(t = Transpose <perm = [0,3,1,2]> (x)
                               q = QuantizeLinear (t, s, z)
                               d = DequantizeLinear (q, s, z)
                               v = DequantizeLinear (w, s, z)
                               c = Conv <kernel_shape = [3,3], strides = [2,2]> (d, v)
                               y = QuantizeLinear (c, s, z))")),
            "GatherColumns Conv ToChannelsFirst ");
}

TEST(HtpRewrites, AMeanOfWindowsThatCountsItsBorderIsADepthwiseConvolution) {
  const auto ops = [](int counts, int pad) {
    return ops_of(
        graph_of("float16[1,32,8,8] x", fmt::format("float16[1,32,{0},{0}] y", 6 + 2 * pad),
                 fmt::format("y = AveragePool <kernel_shape = [3,3], pads = [{0},{0},{0},{0}], "
                             "count_include_pad = {1}> (x)",
                             pad, counts)));
  };
  EXPECT_EQ(ops(1, 1), "ManyToChannelsLast Conv ManyToChannelsFirst ");
  EXPECT_EQ(ops(0, 1), "ManyToChannelsLast AveragePool ManyToChannelsFirst ");
  EXPECT_EQ(ops(1, 0), "ManyToChannelsLast AveragePool ManyToChannelsFirst ");
}

TEST(HtpRewrites, GroupsThatDoNotFillTilesAreConvolutionsOfTheirOwn) {
  const auto ops = [](int channels, int groups) {
    return ops_of(graph_of(
        fmt::format("float16[1,{0},8,8] x, float16[{0},{1},3,3] w", channels, channels / groups),
        fmt::format("float16[1,{},8,8] y", channels),
        fmt::format("y = Conv <kernel_shape = [3,3], pads = [1,1,1,1], group = {}> (x, w)",
                    groups)));
  };
  EXPECT_EQ(ops(64, 8), "ManyToChannelsLast Conv ManyToChannelsFirst ");
  EXPECT_EQ(ops(48, 6),  // 16 channels each
            "ManyToChannelsLast TakeBlocks Conv TakeChannels Conv TakeBlocks Conv Concat "
            "ManyToChannelsFirst ");
  EXPECT_EQ(ops(72, 3),  // of a group
            "ManyToChannelsLast TakeBlocks Conv TakeChannels Conv TakeChannels Conv Concat "
            "ManyToChannelsFirst ");
}

TEST(HtpRewrites, ASumWithWhatATransposeGivesIsMadeBeforeIt) {
  const auto ops = [](std::string_view type) {
    return ops_of(graph_of(fmt::format("{}[1,64,32] x", type), fmt::format("{}[1,64,32] y", type),
                           "a = Transpose <perm = [0,2,1]> (x) b = Tanh (a) "
                           "c = Transpose <perm = [0,2,1]> (b) s = Add (x, c) y = Tanh (s)"));
  };
  EXPECT_EQ(ops("float16"), "Transpose Tanh Transpose Add Transpose Tanh ");
  EXPECT_EQ(ops("uint8"), "Transpose Tanh Transpose Add Tanh ");
}

TEST(HtpRewrites, PlacesOfAnImageBecomeRowsInOneStep) {
  EXPECT_EQ(ops_of(graph_of("float16[1,32,8,8] x, float16[32,32,1,1] w, float16[32,32] v",
                            "float16[1,64,32] y",
                            R"(rows = Constant <value_ints = [1,32,64]> ()
                               a = Conv <kernel_shape = [1,1]> (x, w)
                               b = Reshape (a, rows)
                               c = Transpose <perm = [0,2,1]> (b)
                               y = MatMul (c, v))")),
            "ManyToChannelsLast Conv PlacesToRows MatMul FromRows ");
  EXPECT_EQ(ops_of(graph_of("float16[1,64,32] x, float16[32,32] v, float16[32,32,1,1] w",
                            "float16[1,32,8,8] y",
                            R"(image = Constant <value_ints = [1,32,8,8]> ()
                               a = MatMul (x, v)
                               b = Transpose <perm = [0,2,1]> (a)
                               c = Reshape (b, image)
                               y = Conv <kernel_shape = [1,1]> (c, w))")),
            "MatMul RowsToPlaces Conv ManyToChannelsFirst ");
}

TEST(HtpRewrites, ALimitAfterDepthToSpaceIsDoneWithTheProduct) {
  EXPECT_EQ(ops_of(graph_of("float16[1,32,8,8] x, float16[12,32,1,1] w", "float16[1,3,16,16] y",
                            R"(a = Conv <kernel_shape = [1,1]> (x, w)
                               b = DepthToSpace <blocksize = 2> (a)
                               y = Relu (b))")),
            "ManyToChannelsLast Conv DepthToSpace FlatToChannelsFirst ");
}

TEST(HtpRewrites, PatchesOfACameraAreGatheredBeforeTheyAreInTiles) {
  const auto ops = [](int channels, int extent) {
    return ops_of(graph_of(
        fmt::format("float16[1,{0},32,32] x, float16[32,{0},{1},{1}] w", channels, extent),
        fmt::format("float16[1,32,{0},{0}] y", 32 / extent),
        fmt::format("y = Conv <kernel_shape = [{0},{0}], strides = [{0},{0}]> (x, w)", extent)));
  };
  EXPECT_EQ(ops(3, 16), "ToChannelsLast GatherPatches Conv ManyToChannelsFirst ");
  EXPECT_EQ(ops(3, 4), "ToChannelsLast GatherFewPlaces Conv ManyToChannelsFirst ");
  EXPECT_EQ(ops(64, 2), "ManyToChannelsLast SpaceRearrange Conv ManyToChannelsFirst ");
}

TEST(HtpRewrites, PlacesOfATransposedConvolutionGoAsFarApartAsItsStride) {
  const auto ops = [](int extent, int stride) {
    return ops_of(
        graph_of(fmt::format("float16[1,32,4,4] x, float16[32,32,{0},{0}] w", extent),
                 fmt::format("float16[1,32,{0},{0}] y", 4 * stride),
                 fmt::format("y = ConvTranspose <kernel_shape = [{0},{0}], strides = [{1},{1}], "
                             "pads = [{2},{2},{2},{2}]> (x, w)",
                             extent, stride, (extent - stride) / 2)));
  };
  EXPECT_EQ(ops(2, 2), "ManyToChannelsLast ConvTranspose DepthToSpaceStride2 ManyToChannelsFirst ");
  EXPECT_EQ(ops(4, 2), "ManyToChannelsLast ConvTranspose DepthToSpaceCut ManyToChannelsFirst ");
  EXPECT_EQ(ops(8, 4), "ManyToChannelsLast ConvTranspose DepthToSpaceStride4 ManyToChannelsFirst ");
  EXPECT_EQ(ops(16, 8),
            "ManyToChannelsLast ConvTranspose DepthToSpaceStride8 ManyToChannelsFirst ");
}

// Of two by two places that reach each other: 4 x 32 deep, 64 times 32 columns.
TEST(HtpRewrites, ATransposedConvolutionMultipliesWhatReachesAPlace) {
  const CompiledNetwork network = compiled_for(
      "htp-v73", graph_of("float16[1,32,8,8] x, float16[32,21,16,16] w", "float16[1,21,64,64] y",
                          "y = ConvTranspose <kernel_shape = [16,16], strides = [8,8], "
                          "pads = [4,4,4,4]> (x, w)"));
  EXPECT_EQ(network.metrics.hmx_macs, 64u * 4 * 32 * 64 * 32);
}

TEST(HtpRewrites, AShuffleOfChannelsIsATransposeOfFiveDimensions) {
  const auto kernels =
      kernels_of(compiled_for("htp-v73", graph_of("float16[1,4,8,8,8] x", "float16[1,8,4,8,8] y",
                                                  "y = Transpose <perm = [0,2,1,3,4]> (x)")));
  EXPECT_TRUE(kernels.contains("aictransposechannels"));
}

TEST(HtpRewrites, WindowsOfAnImageGoThroughDdr) {
  const auto traffic = [](std::string_view order, std::string_view shape) {
    const CompiledNetwork network = compiled_for(
        "htp-v73",
        graph_of("float16[1,4,7,4,7,32] x", fmt::format("float16[{}] y", shape),
                 fmt::format("a = Relu (x) b = Transpose <perm = {}> (a) y = Tanh (b)", order)));
    return network.metrics.cores[0].ddr_write_bytes;
  };
  const std::uint64_t bytes = 4ull * 7 * 4 * 7 * 32 * 2;
  EXPECT_EQ(traffic("[0,1,3,2,4,5]", "1,4,4,7,7,32"),
            traffic("[0,3,2,1,4,5]", "1,4,7,4,7,32") + 3 * bytes);
}

}  // namespace
}  // namespace npuscope::npu::nsp::htp_rewrites_test
