// Operations that torq-compiler 2.3.0 takes apart: local response normalization, products of a
// batch by one matrix, and what is read where it is. Bytes and cycles of slices are the compiler's.
#include <gmock/gmock.h>

#include <algorithm>

#include "npu/targets/torq/program_steps.hpp"

namespace npuscope::npu::torq::taken_apart_test {
namespace {

using testing::Contains;
using testing::ElementsAreArray;
using testing::IsSupersetOf;

std::vector<std::string> product_of(const std::string& in, const std::string& out, int depth,
                                    int columns) {
  return steps_of(compiled(fmt::format("ws = Constant <value_ints = [{},{}]> ()\n"
                                       "w = ConstantOfShape (ws)\ny = MatMul (x, w)\n",
                                       depth, columns),
                           "float[" + in + "]", "float[" + out + "]")
                      .program);
}

TEST(TakenApart, AProductOfTwoVectorsEndedTheCompiler) {
  EXPECT_GT(cycles_of(compiled("y = MatMul (x, x)\n", "float[7]", "float[]")), 0);
}

TEST(TakenApart, LocalNormalizationIsSlicesAndCss) {
  const std::vector<std::string> steps = steps_of(
      compiled("y = LRN <size = 3> (x)\n", "float[1,24,20,20]", "float[1,24,20,20]").program);
  // Squares; 26 channels of data and neighbours; 12 channels of sums at a time, of 14.
  EXPECT_THAT(steps, IsSupersetOf({"0: mul_0 600", "out 20800", "cdma 5600", "cdma 4800"}));
  // Two programs each of sums, of what scales them and of the power.
  EXPECT_EQ(std::ranges::count(steps, "css"), 6);
  EXPECT_EQ(std::ranges::count(steps, "cdma 4816"), 1);
}

// One channel does not fit the CSS's memory: 27 rows, 27 and one.
TEST(TakenApart, SumsOfLargeChannelsAreMadeByRows) {
  const std::vector<std::string> steps = steps_of(
      compiled("y = LRN <size = 5> (x)\n", "float[1,64,55,55]", "float[1,64,55,55]").program);
  EXPECT_EQ(std::ranges::count(steps, "in 14850"), 128);
  EXPECT_EQ(std::ranges::count(steps, "in 550"), 64);
}

TEST(TakenApart, MatricesOfAnImageAreMultipliedByCopiesOfTheWeights) {
  EXPECT_THAT(product_of("1,8,16,32", "1,8,16,64", 32, 64),
              IsSupersetOf({"0: broadcast_0 1024", "1: broadcast_0 1024", "out 16384", "in 16384",
                            "0: matmul_1 1024", "out 8192"}));
}

TEST(TakenApart, MatricesOfABatchAreOneSlices) {
  const std::vector<std::string> steps = product_of("4,32,64", "4,32,64", 64, 64);
  EXPECT_THAT(steps, Contains("0: matmul_0 4096"));
  EXPECT_THAT(steps, testing::Not(Contains(testing::HasSubstr("1: "))));
}

// As many channels more as their places are less, in one direction.
TEST(TakenApart, UnequalStridesBecomeChannels) {
  const std::vector<std::string> steps = steps_of(
      compiled("ws = Constant <value_ints = [32,16,3,3]> ()\nw = ConstantOfShape (ws)\n"
               "bs = Constant <value_ints = [32]> ()\nb = ConstantOfShape (bs)\n"
               "y = Conv <kernel_shape = [3,3], strides = [2,1], pads = [1,1,1,1]> (x, w, b)\n",
               "float[1,16,32,32]", "float[1,32,16,32]")
          .program);
  EXPECT_THAT(steps, IsSupersetOf({"0: fill_0 578", "in 18496", "in 36992", "in 6144"}));
}

// 18 rows of phases and windows of two make 17, one more than there are.
TEST(TakenApart, PhasesThatReachFurtherAreSummedInFloats) {
  const std::vector<std::string> steps = steps_of(
      compiled("ws = Constant <value_ints = [32,3,7,7]> ()\nw = ConstantOfShape (ws)\n"
               "bs = Constant <value_ints = [32]> ()\nb = ConstantOfShape (bs)\n"
               "y = Conv <kernel_shape = [7,7], strides = [4,4], pads = [3,3,3,3]> (x, w, b)\n",
               "float[1,3,64,64]", "float[1,32,16,16]")
          .program);
  EXPECT_THAT(steps, IsSupersetOf({"out 128", "in 31104", "out 20736", "in 18496", "out 18496",
                                   "in 16384", "out 8192"}));
}

TEST(TakenApart, WideDepthwiseWindowsAreTheHosts) {
  const Compilation wide = compiled(
      "ws = Constant <value_ints = [48,1,9,9]> ()\nw = ConstantOfShape (ws)\n"
      "y = Conv <kernel_shape = [9,9], pads = [4,4,4,4], group = 48> (x, w)\n",
      "float[1,48,20,20]", "float[1,48,20,20]");
  EXPECT_EQ(wide.operations.front().executor, "host program");
}

TEST(TakenApart, SoftmaxOverChannelsIsTheHostsInFloats) {
  const std::vector<std::string> steps = steps_of(
      compiled("y = Softmax <axis = 1> (x)\n", "float[1,32,14,14]", "float[1,32,14,14]").program);
  EXPECT_THAT(steps, IsSupersetOf({"out 784", "in 25088", "out 12544"}));
}

TEST(TakenApart, SoftmaxOfAScalarReadItsLastSide) {
  EXPECT_FALSE(compiled("y = Softmax (x)\n", "float", "float").program.tasks.empty());
}

TEST(TakenApart, SoftmaxPutsTogetherWhatSlicesDoNotShare) {
  const std::vector<std::string> steps = steps_of(
      compiled("y = Softmax <axis = 1> (x)\n", "float[1,21,16,16]", "float[1,21,16,16]").program);
  EXPECT_THAT(steps, IsSupersetOf({"in 16384", "in 5120", "out 8192"}));
}

// Between products and what is not shared by batches, in heads.
TEST(TakenApart, ScoresOfHeadsGoOutBeforeAndAfterSoftmax) {
  const Compilation heads = compiled(
      "t = Transpose <perm = [0,1,3,2]> (x)\ns = MatMul (x, t)\np = Softmax <axis = -1> (s)\n"
      "y = MatMul (p, x)\n",
      "float[1,4,64,32]", "float[1,4,64,32]");
  const std::vector<std::string> steps = steps_of(heads.program);
  // Two heads of scores by each slice, and what is turned for them.
  EXPECT_EQ(std::ranges::count(steps, "out 16384"), 3);
  EXPECT_EQ(std::ranges::count(steps, "in 32768"), 3);  // of softmax: these, powers, their bits
}

TEST(TakenApart, PartsOfATensorAreReadWhereTheyAre) {
  const std::vector<std::string> steps = steps_of(
      compiled("s0 = Constant <value_ints = [0]> ()\ns1 = Constant <value_ints = [16]> ()\n"
               "s2 = Constant <value_ints = [32]> ()\nc = Constant <value_ints = [1]> ()\n"
               "a = Slice (x, s0, s1, c)\nb = Slice (x, s1, s2, c)\ny = Add (a, b)\n",
               "float[1,32,28,28]", "float[1,16,28,28]")
          .program);
  EXPECT_EQ(std::ranges::count(steps, "in 12544"), 4);  // of each part, by each slice
  EXPECT_EQ(std::ranges::count(steps, "out 12544"), 2);
}

TEST(TakenApart, WeightsOfPointwiseLayersInInt8AreLoadedOnce) {
  const std::vector<std::string> steps = steps_of(
      compiled("xs = Constant <value = float {0.02}> ()\nxz = Constant <value = int8 {0}> ()\n"
               "a = DequantizeLinear (x, xs, xz)\nws = Constant <value_ints = [448,448,1,1]> ()\n"
               "w = ConstantOfShape (ws)\nbs = Constant <value_ints = [448]> ()\n"
               "b = ConstantOfShape (bs)\nc = Conv (a, w, b)\ny = QuantizeLinear (c, xs, xz)\n",
               "int8[1,448,28,28]", "int8[1,448,28,28]")
          .program);
  EXPECT_EQ(std::ranges::count(steps, "in 200704"), 1);
  EXPECT_EQ(std::ranges::count(steps, "out 125440"), 2);
}

}  // namespace
}  // namespace npuscope::npu::torq::taken_apart_test
