// What a program does step by step, at shapes whose order of transfers and kernels was read from
// torq-compiler 2.3.0's debug information.
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "npu/targets/torq/program_steps.hpp"

namespace npuscope::npu::torq::stages_test {
namespace {

using testing::ElementsAre;

std::string convolution(std::string_view type, int channels, int window, int stride) {
  const std::string weights = fmt::format(
      "ws = Constant <value_ints = [{0},{0},{1},{1}]> ()\nw = ConstantOfShape (ws)\n"
      "bs = Constant <value_ints = [{0}]> ()\nb = ConstantOfShape (bs)\n",
      channels, window);
  const std::string conv =
      fmt::format("Conv <kernel_shape = [{0},{0}], strides = [{1},{1}], pads = [{2},{2},{2},{2}]>",
                  window, stride, window / 2);
  if (type == "float") return fmt::format("{}y = {} (x, w, b)\n", weights, conv);
  return fmt::format(
      "xs = Constant <value = float {{0.02}}> ()\nxz = Constant <value = int8 {{0}}> ()\n"
      "a = DequantizeLinear (x, xs, xz)\n{}c = {} (a, w, b)\ny = QuantizeLinear (c, xs, xz)\n",
      weights, conv);
}

// 8 channels, 28x28, 1x1: one slice, nothing beside each other.
TEST(Program, OfAnInt8ConvolutionIsInOrder) {
  const Compilation model =
      compiled(convolution("int8", 8, 1, 1), "int8[1,8,28,28]", "int8[1,8,28,28]");
  EXPECT_THAT(steps_of(model.program), ElementsAre("in 6272", "in 64", "in 64", "in 376",
                                                   "0: conv2d_0 416", "0 done", "out 6272"));
  EXPECT_EQ(cycles_of(model), 3'434);
  EXPECT_EQ(model.program.nss_programs.size(), 2u);  // the first loads a block of the second
}

// In bf16 each slice has half of the channels, and a load of its own.
TEST(Program, OfABf16ConvolutionIsSharedBySlices) {
  const Compilation model =
      compiled(convolution("float", 8, 1, 1), "float[1,8,28,28]", "float[1,8,28,28]");
  EXPECT_THAT(
      steps_of(model.program),
      ElementsAre("in 12544", "in 64", "in 16", "in 376", "0: conv2d_0 400", "in 64", "in 16",
                  "in 376", "1: conv2d_0 400", "0 done", "out 6272", "1 done", "out 6272"));
  EXPECT_EQ(cycles_of(model), 6'182);
}

// A stride of two makes four parts of the data first; weights come in meanwhile.
TEST(Program, OfAStridedConvolutionSegmentsWhatComesFromXram) {
  const Compilation model =
      compiled(convolution("int8", 32, 5, 2), "int8[1,32,28,28]", "int8[1,32,14,14]");
  EXPECT_THAT(
      steps_of(model.program),
      ElementsAre("in 25088", "in 1", "in 8", "in 280", "0: segmentation_0 2273", "in 25600",
                  "in 256", "0 done", "in 392", "0: conv2d_1 25600", "0 done", "out 6272"));
  EXPECT_EQ(cycles_of(model), 38'187);
}

// 256 channels of 28x28: three tiles of 86, whose weights do not fit beside the last one's.
TEST(Program, LoadsDataOnceForTilesOfChannels) {
  const Compilation model =
      compiled(convolution("int8", 256, 3, 1), "int8[1,256,28,28]", "int8[1,256,28,28]");
  std::uint64_t in = 0, out = 0;
  for (const Step& step : model.program.steps) {
    if (step.unit == Unit::dma_in) in += step.bytes;
    if (step.unit == Unit::dma_out) out += step.bytes;
  }
  EXPECT_EQ(out, 256u * 784);
  EXPECT_NEAR(double(in), 806'872, 2'000);
  EXPECT_NEAR(double(cycles_of(model)), 2'158'397, 2'000);
  EXPECT_EQ(model.operations[0].tiles, 3u);
}

TEST(Program, OfASumKeepsNothing) {
  const Compilation model = compiled("y = Add (x, x)\n", "float[1,16,28,28]", "float[1,16,28,28]");
  EXPECT_THAT(steps_of(model.program), testing::Contains("0: add_0 784"));
  EXPECT_THAT(steps_of(model.program), testing::Contains("1: add_0 784"));
}

// A convolution's halves in LRAM are what the next reads whole; they go out and come in again where
// the next reads halves, too.
TEST(Program, KeepsResultsInLramUnlessSlicesReadTheirParts) {
  const std::string first =
      "ws = Constant <value_ints = [32,32,3,3]> ()\nw = ConstantOfShape (ws)\n"
      "a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)\n";
  const auto out_bytes = [](const Compilation& model) {
    std::uint64_t bytes = 0;
    for (const Step& step : model.program.steps) {
      if (step.unit == Unit::dma_out) bytes += step.bytes;
    }
    return bytes;
  };
  constexpr std::uint64_t image = 32 * 16 * 16 * 2;
  EXPECT_EQ(out_bytes(compiled(first + "y = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (a, w)\n",
                               "float[1,32,16,16]", "float[1,32,16,16]")),
            image);
  EXPECT_EQ(out_bytes(compiled(first + "y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a)\n",
                               "float[1,32,16,16]", "float[1,32,8,8]")),
            image + image / 4);
}

// 8 parts of 12,544 bytes, data and a place for results; CDMA counts elements.
TEST(Program, OfTheCssTakesPartsThatFitItsMemory) {
  const Compilation model = compiled("y = Exp (x)\n", "float[1,64,28,28]", "float[1,64,28,28]");
  const std::vector<std::string> steps = steps_of(model.program);
  EXPECT_EQ(std::ranges::count(steps, "css"), 8);
  EXPECT_THAT(std::vector(steps.begin(), steps.begin() + 10),
              ElementsAre("in 3696", "cdma 3696", "in 12544", "cdma 6272", "in 12544", "cdma 6272",
                          "in 12", "cdma 3", "css", "cdma 6272"));
  EXPECT_EQ(cycles_of(model), 157'759);
}

// Eleven kernels, and the bits of floats read as integers in between.
TEST(Program, OfASoftmaxIsAChainOfKernels) {
  const Compilation model = compiled("y = Softmax (x)\n", "float[32,128]", "float[32,128]");
  EXPECT_EQ(model.operations[0].tiles, 11u);
  std::uint64_t cycles = 0;
  for (const Kernel& each : model.program.kernels) cycles += each.cycles;
  EXPECT_EQ(cycles, 13'332u);
}

// Programs of the NSS end where the host computes, and the next begins with a block that is there.
TEST(Program, IsInterruptedByTheHost) {
  const Compilation model = compiled(
      "k = Constant <value_ints = [64]> ()\na = Relu (x)\nv, i = TopK (a, k)\ny = Relu (v)\n",
      "float[16,64]", "float[16,64]");
  EXPECT_EQ(model.program.dispatches.size(), 1u);
  EXPECT_EQ(model.program.nss_programs.size(), 3u);
  EXPECT_EQ(model.program.host_programs.size(), 1u);
}

// What only the host computes needs no block either.
TEST(Program, OfTheHostAloneHasNoTasks) {
  const Compilation model = compiled(
      "xs = Constant <value = float {0.02}> ()\nxz = Constant <value = int8 {0}> ()\n"
      "a = DequantizeLinear (x, xs, xz)\nb = Tanh (a)\ny = QuantizeLinear (b, xs, xz)\n",
      "int8[1,64,28,28]", "int8[1,64,28,28]");
  EXPECT_TRUE(model.program.tasks.empty());
  EXPECT_EQ(model.program.host_programs.size(), 1u);
  EXPECT_TRUE(timeline_of(model).rows.empty());
}

// One slice: nothing is shared.
TEST(Program, OfAnSr200RunsOnOneSlice) {
  const Target target = *read_target(*find_target_file("torq-sr200"));
  const Compilation model = torq::compiled(
      parsed("<ir_version: 8, opset_import: [\"\" : 13]>\nm (float[1,16,28,28] x) => "
             "(float[1,16,28,28] y) { y = Sigmoid (x) }"),
      target);
  for (const Step& step : model.program.steps) EXPECT_EQ(step.slice, 0u);
}

// Between scales, as quantised models have an operator.
std::string in_int8(std::string_view operation, int inputs = 1) {
  std::string body =
      "s = Constant <value = float {0.02}> ()\nz = Constant <value = int8 {0}> ()\n"
      "a = DequantizeLinear (x, s, z)\n";
  if (inputs > 1) body += "b = DequantizeLinear (x2, s, z)\n";
  return fmt::format("{}c = {}\ny = QuantizeLinear (c, s, z)\n", body, operation);
}

// Within a twentieth of what torq-compiler 2.3.0 says.
void expect_about(const Compilation& model, std::int64_t cycles) {
  EXPECT_NEAR(double(cycles_of(model)), double(cycles), double(cycles) / 20);
}

// The host makes 48 rows, 48 rows and 4 rows: kernels copy them into one tensor.
TEST(Program, OfAnInt8NormalizationPutsRowsTogetherThatSlicesDoNotShareEvenly) {
  const auto normalised = [](int rows, int columns) {
    const std::string type = fmt::format("[1,{},{}]", rows, columns);
    const std::string ones = fmt::format(
        "n = Constant <value_ints = [{}]> ()\ng = ConstantOfShape (n)\nh = ConstantOfShape (n)\n",
        columns);
    return torq::compiled(parsed(fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 17]>\nm (int8{0} x) => (int8{0} y) {{\n{1}{2}}}\n",
        type, ones, in_int8("LayerNormalization <axis = -1> (a, g, h)"))));
  };
  expect_about(normalised(100, 100), 195'004);
  expect_about(normalised(196, 192), 1'022'453);  // large enough to go out between
  expect_about(normalised(512, 512), 13'505);     // too large to be turned: the host's
}

// 49 rows: 24, 24 and one, whose 49 columns are shared in turn.
TEST(Program, OfAnOddProductSharesWhatIsLeftOverByItsColumns) {
  const auto graph = [](std::string_view type, const std::string& shape, const std::string& other,
                        const std::string& made, const std::string& body) {
    return torq::compiled(parsed(fmt::format(
        "<ir_version: 8, opset_import: [\"\" : 13]>\nm ({0}[{1}] x, {0}[{2}] x2) => ({0}[{3}] y) "
        "{{\n{4}}}\n",
        type, shape, other, made, body)));
  };
  const std::string matmul = "y = MatMul (x, x2)\n", int8 = in_int8("MatMul (a, b)", 2);
  expect_about(graph("int8", "3,49,32", "3,32,49", "3,49,49", int8), 22'414);
  expect_about(graph("int8", "1,4,64,32", "1,4,32,64", "1,4,64,64", int8), 17'785);
  expect_about(graph("float", "12,49,32", "12,32,49", "12,49,49", matmul), 115'644);
  expect_about(graph("float", "1,4,64,32", "1,4,32,64", "1,4,64,64", matmul), 14'456);
}

TEST(Program, OfAnInt8SoftmaxIsTheCsss) {
  const Compilation model =
      compiled(in_int8("Softmax <axis = -1> (a)"), "int8[49,49]", "int8[49,49]");
  EXPECT_THAT(steps_of(model.program), testing::Contains("css"));
  expect_about(model, 17'722);
  const Compilation large =
      compiled(in_int8("Softmax <axis = -1> (a)"), "int8[256,256]", "int8[256,256]");
  EXPECT_EQ(large.operations[0].executor, "host program");
}

// Loops over parts of what LRAM does not hold, each next to a copy of what the last one made.
TEST(Program, OfARootBeyondLramCopiesBetweenItsLoops) {
  const auto root = [](std::string_view shape) {
    const std::string type = fmt::format("float[{}]", shape);
    return compiled("y = Sqrt (x)\n", type, type);
  };
  expect_about(root("1,32,56,56"), 1'120'555);
  expect_about(root("1,48,56,56"), 1'320'172);
}

// A tile of rows that begins within the data reads one more, is made even and makes a row that is
// taken off again.
TEST(Program, OfAStridedConvolutionsLowerTileMakesItsRowsEven) {
  const Compilation model =
      compiled(convolution("float", 64, 3, 2), "float[1,64,56,56]", "float[1,64,28,28]");
  const auto steps = steps_of(model.program);
  EXPECT_THAT(steps, testing::Contains("in 207872"));           // 29 rows of 64 channels
  EXPECT_THAT(steps, testing::Contains("0: convert_3 12992"));  // into 30
  EXPECT_THAT(steps, testing::Contains("0: conv2d_5 64512"));   // 15 of the result
  EXPECT_NEAR(double(cycles_of(model)), 460'144, 46'000);
}

}  // namespace
}  // namespace npuscope::npu::torq::stages_test
