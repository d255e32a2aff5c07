// Convolutions and what stands between them on a card: bands of rows, tiles of 32 channels, few
// channels, strides.
#include <gtest/gtest.h>

#include "npu/graph/parsed_onnx.hpp"
#include "npu/targets/nsp/compile/compile_fixture.hpp"

namespace npuscope::npu::nsp::bands_test {
namespace {

CompiledNetwork on_one_core(const std::string& text) {
  return compiled(parsed("<ir_version: 8, opset_import: [\"\" : 13]>\n" + text), options_for(1));
}

// HVX waited for all of a convolution, and the next convolution for all of HVX.
TEST(Bands, WaitedForWholeTensors) {
  auto network = on_one_core(R"(
      pooled (float[1,32,128,128] x) => (float[1,32,1,1] y) {
        ws = Constant <value_ints = [32,32,3,3]> ()
        w = ConstantOfShape (ws)
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
        b = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a)
        c = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (b, w)
        y = GlobalAveragePool (c)
      })");
  EXPECT_EQ(kernels_of(network)["aicconverttod32"], 4);
  EXPECT_EQ(kernels_of(network)["aicmaxpoold32"], 4);
  EXPECT_EQ(kernels_of(network)["aicconvolutiond32"], 8);
}

// Concat and Resize took whole tensors out of d32 and back.
TEST(Bands, LeftTheirTilesToBeJoined) {
  auto network = on_one_core(R"(
      joined (float[1,32,32,32] x) => (float[1,32,1,1] y) {
        ws = Constant <value_ints = [32,32,3,3]> ()
        w = ConstantOfShape (ws)
        vs = Constant <value_ints = [32,64,1,1]> ()
        v = ConstantOfShape (vs)
        scales = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> ()
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
        b = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (a, w)
        c = Concat <axis = 1> (a, b)
        d = Resize <mode = "nearest"> (c, , scales)
        e = Conv <kernel_shape = [1,1]> (d, v)
        y = GlobalAveragePool (e)
      })");
  EXPECT_EQ(kernels_of(network)["aicconvertfromd32"], 1) << "the output alone";
  EXPECT_GE(kernels_of(network)["aicresized32"], 1);
  EXPECT_EQ(kernels_of(network)["aiccopysamevtcm"], 0);
}

// Each place of a window was padded to 32 channels.
TEST(FewChannels, WerePaddedToThirtyTwo) {
  const auto macs = [](const char* convolution) {
    return on_one_core(fmt::format(R"(
      image (float[1,3,64,64] x) => (float[N,C,H,W] y) {{
        ws = Constant <value_ints = [32,3,{0},{0}]> ()
        w = ConstantOfShape (ws)
        y = Conv <kernel_shape = [{0},{0}], {1}> (x, w)
      }})",
                                   convolution[0], convolution + 1))
        .metrics.hmx_macs;
  };
  EXPECT_EQ(macs("3pads = [1,1,1,1]"), 64u * 64 * 32 * 3 * 32) << "a row of a window at a time";
  EXPECT_EQ(macs("8strides = [8,8]"), 64u * 32 * 3 * 64) << "patches";
}

// What sorts places for strides cost nothing.
TEST(Strides, CostNothingOnHvx) {
  auto network = on_one_core(R"(
      strided (float[1,32,64,64] x) => (float[N,C,H,W] y) {
        ws = Constant <value_ints = [32,32,3,3]> ()
        w = ConstantOfShape (ws)
        y = Conv <kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2]> (x, w)
      })");
  EXPECT_GE(kernels_of(network)["elementspacetodepthstride2"], 1);
}

// An output left in one piece when all of it was there.
TEST(Bands, LeftInOnePiece) {
  auto network = on_one_core(R"(
      made (float[1,32,128,128] x) => (float[1,32,128,128] y) {
        ws = Constant <value_ints = [32,32,3,3]> ()
        w = ConstantOfShape (ws)
        a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
        y = Sigmoid (a)
      })");
  EXPECT_EQ(kernels_of(network)["aicconvertfromd32"], 4);
  EXPECT_EQ(kernels_of(network)["aiccopyfromvtcm"], 4);
}

}  // namespace
}  // namespace npuscope::npu::nsp::bands_test
