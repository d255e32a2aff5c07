// Windows that slices have no kernel for as they are: gaps, strides, groups, odd extents. The order
// of steps is that of torq-compiler 2.3.0's debug information, but for constants, which it loads
// before data, and for what both slices take out of a border, which it moves in halves.
#include <gmock/gmock.h>

#include "npu/targets/torq/program_steps.hpp"

namespace npuscope::npu::torq::windows_test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

// `conv` with weights of this shape and as many biases as results.
std::string with_weights(const std::string& conv, const std::string& shape, int results,
                         bool is_int8 = false) {
  const std::string constants = fmt::format(
      "ws = Constant <value_ints = [{}]> ()\nw = ConstantOfShape (ws)\n"
      "bs = Constant <value_ints = [{}]> ()\nb = ConstantOfShape (bs)\n",
      shape, results);
  if (!is_int8) return fmt::format("{}y = {} (x, w, b)\n", constants, conv);
  return fmt::format(
      "xs = Constant <value = float {{0.02}}> ()\nxz = Constant <value = int8 {{0}}> ()\n"
      "a = DequantizeLinear (x, xs, xz)\n{}c = {} (a, w, b)\ny = QuantizeLinear (c, xs, xz)\n",
      constants, conv);
}

std::vector<std::string> steps_of_int8(const std::string& conv, const std::string& shape,
                                       int results, const std::string& in, const std::string& out) {
  return steps_of(
      compiled(with_weights(conv, shape, results, true), "int8[" + in + "]", "int8[" + out + "]")
          .program);
}

std::vector<std::string> steps_of_bf16(const std::string& conv, const std::string& shape,
                                       int results, const std::string& in, const std::string& out) {
  return steps_of(
      compiled(with_weights(conv, shape, results), "float[" + in + "]", "float[" + out + "]")
          .program);
}

// Zeros between the weights of 3x3 make them 5x5, computed at 32x32.
TEST(Windows, WithGapsReadAnImageOfZeros) {
  EXPECT_THAT(steps_of_int8("Conv <kernel_shape = [3,3], dilations = [2,2], pads = [2,2,2,2]>",
                            "32,32,3,3", 32, "1,32,28,28", "1,32,28,28"),
              ElementsAre("in 204", "0: fill_0 512", "0 done", "out 32768", "in 25088", "out 25088",
                          "in 32768", "in 25600", "in 256", "in 376", "0: conv2d_1 102400",
                          "0 done", "out 32768", "in 25088", "out 25088"));
}

// A window that would be 9x9 keeps its nine weights.
TEST(Windows, OverMoreThanSevenRowsLeaveGapsToTheKernel) {
  EXPECT_THAT(steps_of_int8("Conv <kernel_shape = [3,3], dilations = [4,4], pads = [4,4,4,4]>",
                            "64,64,3,3", 64, "1,64,28,28", "1,64,28,28"),
              testing::IsSupersetOf({"in 82944", "in 36864", "0: conv2d_1 193536", "out 82944"}));
}

TEST(Windows, WithGapsOfEachSlicesChannelsHaveAnImageEach) {
  EXPECT_THAT(
      steps_of_bf16("Conv <kernel_shape = [3,3], dilations = [2,2], pads = [2,2,2,2], group = 32>",
                    "32,1,3,3", 32, "1,32,28,28", "1,32,28,28"),
      ElementsAreArray({"in 204",
                        "0: fill_0 512",
                        "in 204",
                        "1: fill_0 512",
                        "in 800",
                        "in 64",
                        "0 done",
                        "out 32768",
                        "in 25088",
                        "out 25088",
                        "in 32768",
                        "in 376",
                        "0: depthwise_conv2d_1 5120",
                        "1 done",
                        "out 32768",
                        "in 25088",
                        "out 25088",
                        "in 32768",
                        "in 800",
                        "in 64",
                        "in 376",
                        "1: depthwise_conv2d_1 5120",
                        "0 done",
                        "out 32768",
                        "1 done",
                        "out 32768",
                        "in 50176",
                        "out 50176"}));
}

// Zeros between the data: 28 rows become 57.
TEST(Windows, TransposedReadDataWithGaps) {
  EXPECT_THAT(steps_of_int8("ConvTranspose <kernel_shape = [2,2], strides = [2,2]>", "16,16,2,2",
                            16, "1,16,28,28", "1,16,56,56"),
              ElementsAre("in 204", "0: fill_0 812", "0 done", "out 51984", "in 12544", "out 12544",
                          "in 51984", "in 1024", "in 128", "in 376", "0: conv2d_1 13056", "0 done",
                          "out 51984", "in 50176", "out 50176"));
}

TEST(Windows, OfGroupsAreTheHostsInFloats) {
  EXPECT_THAT(steps_of_bf16("Conv <kernel_shape = [1,1], group = 8>", "64,8,1,1", 64, "1,64,28,28",
                            "1,64,28,28"),
              ElementsAre("in 128", "in 216", "0: act_0 8", "0 done", "out 256", "in 200704",
                          "in 216", "0: act_1 6272", "0 done", "out 100352"));
}

// Two groups at a time: 6,400 bytes of data and as many sums of 32 bits.
TEST(Windows, OfGroupsAreTheCsssInInt8) {
  const std::vector<std::string> part{"in 6400",  "cdma 6400", "in 128",   "cdma 128",
                                      "in 25600", "cdma 6400", "in 16",    "cdma 4",
                                      "css",      "cdma 6400", "out 25600"};
  std::vector<std::string> steps{"in 128", "in 248",  "0: broadcast_0 3200", "0 done", "out 51200",
                                 "in 592", "cdma 592"};
  steps.insert(steps.end(), part.begin(), part.end());
  steps.insert(steps.end(), part.begin(), part.end());
  EXPECT_EQ(steps_of_int8("Conv <kernel_shape = [1,1], group = 4>", "32,8,1,1", 32, "1,32,20,20",
                          "1,32,20,20"),
            steps);
}

TEST(Windows, OfMoreThanSevenPlacesAreTheHostsInFloats) {
  EXPECT_THAT(steps_of_bf16("Conv <kernel_shape = [1,9], pads = [0,4,0,4]>", "16,16,1,9", 16,
                            "1,16,32,64", "1,16,32,64"),
              testing::Not(testing::Contains(testing::HasSubstr("conv2d"))));
}

TEST(Windows, WithAStrideTakeEvenExtents) {
  EXPECT_THAT(
      steps_of_bf16("Conv <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]>", "32,32,3,3",
                    32, "1,32,15,15", "1,32,8,8"),
      ElementsAre("in 204", "0: fill_0 256", "0 done", "out 16384", "in 14400", "out 14400",
                  "in 16384", "in 1", "in 8", "in 280", "0: segmentation_1 1024", "in 9216",
                  "in 64", "0 done", "in 392", "0: conv2d_2 2304", "in 9216", "in 64", "in 392",
                  "1: conv2d_2 2304", "0 done", "out 2048", "1 done", "out 2048"));
}

// Sixteen channels of 4x4 pixels are 256 of one.
TEST(Windows, ThatLieNextToEachOtherBecomeChannels) {
  EXPECT_THAT(
      steps_of_bf16("Conv <kernel_shape = [4,4], strides = [4,4]>", "16,16,4,4", 16, "1,16,32,32",
                    "1,16,8,8"),
      ElementsAre("in 16384", "in 264", "0: transpose_0 4096", "in 16384", "in 264",
                  "1: transpose_0 4096", "in 4096", "in 32", "0 done", "out 16384", "1 done",
                  "out 16384", "in 32768", "in 376", "0: conv2d_1 1024", "in 4096", "in 32",
                  "in 376", "1: conv2d_1 1024", "0 done", "out 1024", "1 done", "out 1024"));
}

// A row of places goes out as an image of one column and becomes a row there.
TEST(Windows, OfRowsGoOutTwice) {
  EXPECT_THAT(steps_of_bf16("Conv <kernel_shape = [1]>", "64,64,1", 64, "1,64,64", "1,64,64"),
              ElementsAre("in 8192", "in 4096", "in 128", "in 376", "0: conv2d_0 1024", "in 4096",
                          "in 128", "in 376", "1: conv2d_0 1024", "0 done", "out 4096", "1 done",
                          "out 4096", "in 8192", "out 8192"));
}

// 3x3 over 40 rows reach 39, so that one more is filled up.
TEST(Windows, OfPoolingThatReachOverOddRowsTakeOneMore) {
  const auto steps = steps_of(compiled("y = MaxPool <kernel_shape = [3,3], strides = [2,2]> (x)\n",
                                       "float[1,32,40,40]", "float[1,32,19,19]")
                                  .program);
  EXPECT_THAT(steps,
              testing::IsSupersetOf({"0: fill_0 800", "1: fill_0 800", "out 51200", "in 51200",
                                     "0: segmentation_1 3200", "1: convert_3 800", "out 12800"}));
}

// Both slices have halves of what a function makes, and of its product.
TEST(Windows, OfNoneAProductOfAFunctionIsSharedAsThatIs) {
  const auto steps = steps_of(
      compiled("s = Sigmoid (x)\ny = Mul (x, s)\n", "float[1,32,28,28]", "float[1,32,28,28]")
          .program);
  EXPECT_THAT(steps, testing::IsSupersetOf({"0: mul_6 1568", "1: mul_6 1568"}));
}

// Frames, strides that become channels, and what the host and the CSS get, were moved whole.
TEST(Windows, OfLargeImagesNeverWantMoreThanLramHas) {
  const auto most_of = [](const std::string& body, const std::string& in, const std::string& out) {
    std::uint64_t most = 0;
    for (const CompiledOperation& each : compiled(body, in, out).operations)
      most = std::max(most, each.lram_bytes);
    return most;
  };
  const auto of = [&](const std::string& conv, const std::string& weights, int results,
                      const std::string& in, const std::string& out) {
    return most_of(with_weights(conv, weights, results), "float[" + in + "]", "float[" + out + "]");
  };
  const std::uint64_t lram = sl2610().lram_bytes;
  EXPECT_LE(of("ConvTranspose <kernel_shape = [2,2], strides = [2,2]>", "64,64,2,2", 64,
               "1,64,64,64", "1,64,128,128"),
            lram);
  EXPECT_LE(of("Conv <kernel_shape = [16,16], strides = [16,16]>", "64,3,16,16", 64, "1,3,512,512",
               "1,64,32,32"),
            lram);
  EXPECT_LE(of("Conv <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]>", "16,16,3,3", 16,
               "1,16,225,225", "1,16,113,113"),
            lram);
  EXPECT_LE(of("Conv <kernel_shape = [9,9], pads = [4,4,4,4]>", "16,16,9,9", 16, "1,16,256,256",
               "1,16,256,256"),
            lram);
}

// A gap of two made a tile of every pixel.
TEST(Windows, WithGapsOverLargeImagesAreCutByRows) {
  const Compilation model =
      compiled(with_weights("Conv <kernel_shape = [3,3], dilations = [2,2], pads = [2,2,2,2]>",
                            "64,64,3,3", 64),
               "float[1,64,256,256]", "float[1,64,256,256]");
  EXPECT_LT(model.operations.front().tiles, 2'000u);
  EXPECT_LT(cycles_of(model), 100'000'000);
}

// They had no columns, and took no time.
TEST(Windows, OfRowsOfABatchTakeTime) {
  const Compilation model = compiled(
      with_weights("Conv <kernel_shape = [3], strides = [2], pads = [1,1]>", "64,64,3", 64),
      "float[2,64,100]", "float[2,64,50]");
  for (const Kernel& kernel : model.program.kernels) EXPECT_GT(kernel.cycles, 0u) << kernel.name;
}

// One host program of six multiplies.
TEST(Windows, OfMoreThanSevenPlacesAreMultipliedOnce) {
  const Compilation model =
      compiled(with_weights("Conv <kernel_shape = [1,9], pads = [0,4,0,4]>", "16,16,1,9", 16),
               "float[1,16,32,64]", "float[1,16,32,64]");
  std::uint64_t products = 0;
  for (const HostProgram& each : model.program.host_programs) products += each.multiply_accumulates;
  EXPECT_EQ(products, 16u * 16 * 9 * 32 * 64);
}

}  // namespace
}  // namespace npuscope::npu::torq::windows_test
