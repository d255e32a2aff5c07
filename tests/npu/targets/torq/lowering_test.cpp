// What operators become on a Torq NPU.
#include "npu/targets/torq/lowering.hpp"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "npu/targets/torq/fixture.hpp"

namespace npuscope::npu::torq::lowering_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "slices conv2d x3 int8": executor, kernel, how many operators, and whether in 1-byte elements.
std::vector<std::string> described(const Lowering& lowering) {
  std::vector<std::string> lines;
  for (const Operation& each : lowering.operations) {
    lines.push_back(fmt::format("{} {} x{}{}", name_of(each.executor), each.kernel,
                                each.nodes.size(), each.is_int8 ? " int8" : ""));
  }
  return lines;
}

Lowering lowered(const std::string& body, const std::string& in, const std::string& out) {
  const Graph graph = parsed(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 13]>\nm ({} x) => ({} y) {{\n{}}}\n", in, out, body));
  auto lowering = lower(graph, sl2610());
  EXPECT_TRUE(lowering) << (lowering ? "" : lowering.error().message);
  return lowering ? std::move(*lowering) : Lowering{};
}

TEST(LowerToTorq, TakesAnActivationIntoTheConvolution) {
  const Lowering lowering = lowered(R"(
      ws = Constant <value_ints = [32,32,3,3]> ()
      w = ConstantOfShape (ws)
      a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
      y = Relu (a)
)",
                                    "float[1,32,16,16]", "float[1,32,16,16]");
  EXPECT_THAT(described(lowering), ElementsAre("slices conv2d x2"));
  EXPECT_THAT(lowering.warnings, IsEmpty());
}

// The compiler does not fold it; who exports should.
TEST(LowerToTorq, LeavesABatchNormalizationToTheCssAndWarns) {
  const Lowering lowering = lowered(R"(
      ws = Constant <value_ints = [32,32,3,3]> ()
      w = ConstantOfShape (ws)
      cs = Constant <value_ints = [32]> ()
      c = ConstantOfShape (cs)
      a = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (x, w)
      b = BatchNormalization (a, c, c, c, c)
      y = Relu (b)
)",
                                    "float[1,32,16,16]", "float[1,32,16,16]");
  EXPECT_THAT(described(lowering),
              ElementsAre("slices conv2d x1", "CSS css x1", "slices clamp x1"));
  EXPECT_THAT(lowering.warnings,
              ElementsAre(HasSubstr("(BatchNormalization): torq-compiler 2.3.0 runs it on the "
                                    "CSS, channel by channel; fold it")));
}

TEST(LowerToTorq, KnowsTheKernelsOfTheCompiler) {
  const Lowering lowering = lowered(R"(
      ws = Constant <value_ints = [64,64]> ()
      w = ConstantOfShape (ws)
      a = MatMul (x, w)
      b = Add (a, x)
      c = Sigmoid (b)
      d = Relu (c)
      y = Softmax (d)
)",
                                    "float[16,64]", "float[16,64]");
  EXPECT_THAT(described(lowering),
              ElementsAre("slices fc-fast x1", "slices add x1", "slices table x1",
                          "slices clamp x1", "slices table x1"));
}

// Scales between operators are part of these: nothing is left of them.
constexpr const char* quantized_convolution = R"(
      xs = Constant <value = float {0.02}> ()
      xz = Constant <value = int8 {0}> ()
      ws = Constant <value_ints = [32,32,3,3]> ()
      w = ConstantOfShape (ws)
      a = DequantizeLinear (x, xs, xz)
      b = Conv <kernel_shape = [3,3], pads = [1,1,1,1]> (a, w)
      c = Relu (b)
      y = QuantizeLinear (c, xs, xz)
)";

TEST(LowerToTorq, FoldsScalesIntoOperators) {
  const Lowering lowering = lowered(quantized_convolution, "int8[1,32,16,16]", "int8[1,32,16,16]");
  EXPECT_THAT(described(lowering), ElementsAre("slices conv2d x2 int8"));
}

// The compiler does not fold it; who quantises should.
TEST(LowerToTorq, WarnsOfALimitBetweenAnInt8ConvolutionAndItsScale) {
  const Lowering lowering = lowered(quantized_convolution, "int8[1,32,16,16]", "int8[1,32,16,16]");
  EXPECT_THAT(lowering.warnings,
              ElementsAre(HasSubstr("(Relu): torq-compiler 2.3.0 runs an int8 convolution with a "
                                    "limit before its QuantizeLinear on the CSS")));
}

// What the compiler has no kernel for in int8 the host computes, or the CSS.
TEST(LowerToTorq, LeavesInt8ToHostAndCss) {
  const auto of = [](std::string_view op) {
    return described(lowered(fmt::format(R"(
      xs = Constant <value = float {{0.02}}> ()
      xz = Constant <value = int8 {{0}}> ()
      a = DequantizeLinear (x, xs, xz)
      b = {} (a)
      y = QuantizeLinear (b, xs, xz)
)",
                                         op),
                             "int8[1,32,16,16]", "int8[1,32,16,16]"));
  };
  EXPECT_THAT(of("Tanh"), ElementsAre("host program host x1 int8"));
  EXPECT_THAT(of("Relu"), ElementsAre("CSS css x1 int8"));
  EXPECT_THAT(of("Sigmoid"), ElementsAre("slices table x1 int8"));
}

TEST(LowerToTorq, AMeanOfAnInt8ImageDependedOnHowItsAxesWereWritten) {
  const auto of = [](int opset, std::string_view mean) {
    const auto lowering = lower(parsed(fmt::format(R"(
      <ir_version: 8, opset_import: ["" : {}]>
      m (int8[1,8,9,9] x) => (int8[1,8,1,1] y) {{
        xs = Constant <value = float {{0.02}}> ()
        xz = Constant <value = int8 {{0}}> ()
        axes = Constant <value_ints = [3,-2]> ()
        a = DequantizeLinear (x, xs, xz)
        b = ReduceMean {}
        y = QuantizeLinear (b, xs, xz)
      }}
)",
                                                   opset, mean)),
                                sl2610());
    EXPECT_TRUE(lowering) << (lowering ? "" : lowering.error().message);
    return lowering ? described(*lowering) : std::vector<std::string>{};
  };
  EXPECT_THAT(of(13, "<axes = [2,3]> (a)"), ElementsAre("slices avgpool2d x1 int8"));
  EXPECT_THAT(of(13, "<axes = [-1,-2]> (a)"), ElementsAre("slices avgpool2d x1 int8"));
  EXPECT_THAT(of(18, "(a, axes)"), ElementsAre("slices avgpool2d x1 int8"));
}

// Of floats that the model itself has at its ends: the host scales them.
TEST(LowerToTorq, LeavesScalesOfInputsAndResultsToTheHost) {
  const Lowering lowering = lowered(R"(
      xs = Constant <value = float {0.02}> ()
      xz = Constant <value = int8 {0}> ()
      a = QuantizeLinear (x, xs, xz)
      y = DequantizeLinear (a, xs, xz)
)",
                                    "float[1,32,16,16]", "float[1,32,16,16]");
  EXPECT_THAT(described(lowering),
              ElementsAre("host program host x1", "host program host x1 int8"));
}

TEST(LowerToTorq, LeavesToTheHostWhatNoKernelDoes) {
  const Lowering lowering = lowered(R"(
      k = Constant <value_ints = [3]> ()
      v, i = TopK (x, k)
      y = Concat <axis = 1> (v, v)
)",
                                    "float[16,64]", "float[16,6]");
  EXPECT_THAT(described(lowering), ElementsAre("host program host x1", "DMA copy x1"));
  ASSERT_EQ(lowering.warnings.size(), 1u);
  EXPECT_THAT(lowering.warnings[0], HasSubstr("(TopK): neither slices nor CSS have a kernel"));
}

std::string problem_of(const std::string& text) {
  const auto compilation = compile(parsed(text), sl2610(), "m");
  return compilation ? "" : compilation.error().message;
}

TEST(LowerToTorq, RefusesWhatXramCannotHold) {
  EXPECT_THAT(problem_of("<ir_version: 8, opset_import: [\"\" : 13]>\n"
                         "m (float[4000000,1000] x) => (float[4000000,1000] y) { y = Relu (x) }"),
              HasSubstr("tensor x has 8,000,000,000 bytes, more than the 4,294,967,296 bytes of "
                        "XRAM that torq-sl2610 addresses"));
}

TEST(LowerToTorq, LeavesRowsThatLramCannotHoldToTheHost) {
  const Compilation compilation =
      compiled(parsed("<ir_version: 8, opset_import: [\"\" : 13]>\n"
                      "m (float[1,1,8,400000] x) => (float[1,1,4,200000] y) {\n"
                      "y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) }"));
  EXPECT_EQ(compilation.operations[0].executor, "host program");
  ASSERT_EQ(compilation.warnings.size(), 1u);
  EXPECT_THAT(compilation.warnings[0],
              HasSubstr("its smallest tile does not fit 523,008 bytes of LRAM"));
}

TEST(LowerToTorq, RefusesAModelWithNothingToExecute) {
  EXPECT_THAT(problem_of("<ir_version: 8, opset_import: [\"\" : 13]>\n"
                         "m (float[4] x) => (float[4] y) { y = Identity (x) }"),
              HasSubstr("nothing to execute"));
}

// More tiles than the NSS may have tasks, said before any is made.
TEST(LowerToTorq, RefusesMoreTasksThanAProgramMayHave) {
  auto target = *parse_target(changed_toml("bytes = 524288", "bytes = 32768"), "small");
  const auto compilation =
      compile(parsed("<ir_version: 8, opset_import: [\"\" : 13]>\n"
                     "m (float[40000,50000] x) => (float[40000,50000] y) { y = Relu (x) }"),
              target, "m");
  ASSERT_FALSE(compilation);
  EXPECT_THAT(compilation.error().message, HasSubstr("more than 4,194,304 tasks"));
}

}  // namespace
}  // namespace npuscope::npu::torq::lowering_test
