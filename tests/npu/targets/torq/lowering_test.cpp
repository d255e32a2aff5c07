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

// "slices conv2d x3": executor, kernel, and how many operators; ">" where a result stays in LRAM.
std::vector<std::string> described(const Lowering& lowering) {
  std::vector<std::string> lines;
  for (const Operation& each : lowering.operations) {
    lines.push_back(fmt::format("{}{} {} x{}{}", each.begins_dispatch ? "" : "  ",
                                name_of(each.executor), each.kernel, each.nodes.size(),
                                each.resident.output ? " >" : ""));
  }
  return lines;
}

Lowering lowered(const std::string& body, const std::string& in, const std::string& out) {
  const Graph graph = graph_of(fmt::format(
      "<ir_version: 8, opset_import: [\"\" : 13]>\nm ({} x) => ({} y) {{\n{}}}\n", in, out, body));
  auto lowering = lower(graph, sl2610());
  EXPECT_TRUE(lowering) << (lowering ? "" : lowering.error().message);
  return lowering ? std::move(*lowering) : Lowering{};
}

TEST(LowerToTorq, TakesNormalisationAndActivationIntoTheConvolution) {
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
  EXPECT_THAT(described(lowering), ElementsAre("slices conv2d x3"));
  EXPECT_THAT(lowering.warnings, IsEmpty());
}

// The sum reads the small product where it lies; the softmax runs on the CSS behind it.
TEST(LowerToTorq, KeepsSmallResultsInLramWithinADispatch) {
  const Lowering lowering = lowered(R"(
      ws = Constant <value_ints = [64,64]> ()
      w = ConstantOfShape (ws)
      a = MatMul (x, w)
      b = Add (a, x)
      y = Softmax (b)
)",
                                    "float[16,64]", "float[16,64]");
  EXPECT_THAT(described(lowering),
              ElementsAre("slices matmul x1 >", "  slices add x1 >", "  CSS softmax x1"));
}

// Both readers need what the first made: it goes out.
TEST(LowerToTorq, KeepsNothingThatOthersReadToo) {
  const Lowering lowering = lowered(R"(
      a = Sigmoid (x)
      b = Tanh (a)
      y = Mul (a, b)
)",
                                    "float[16,64]", "float[16,64]");
  EXPECT_THAT(described(lowering),
              ElementsAre("slices table x1", "  slices table x1 >", "  slices mul x1"));
}

TEST(LowerToTorq, LeavesToTheHostWhatNoKernelDoes) {
  const Lowering lowering = lowered(R"(
      k = Constant <value_ints = [3]> ()
      v, i = TopK (x, k)
      y = Concat <axis = 1> (v, v)
)",
                                    "float[16,64]", "float[16,6]");
  EXPECT_THAT(described(lowering), ElementsAre("host program host x1", "host copy copy x1"));
  EXPECT_EQ(lowering.operations[1].runs, 32u);  // 16 rows of two parts
  ASSERT_EQ(lowering.warnings.size(), 1u);
  EXPECT_THAT(lowering.warnings[0], HasSubstr("(TopK): neither slices nor CSS have a kernel"));
}

TEST(LowerToTorq, SaysWhatDoesNotFitLram) {
  const Lowering lowering =
      lowered("y = ReduceSum <keepdims = 1> (x)\n", "float[1,4000000]", "float[1,1]");
  EXPECT_THAT(described(lowering), ElementsAre("host program host x1"));
  ASSERT_EQ(lowering.warnings.size(), 1u);
  EXPECT_THAT(lowering.warnings[0], HasSubstr("its smallest tile does not fit 507,904 bytes"));
}

std::string problem_of(const std::string& text) {
  const auto compilation = compile(graph_of(text), sl2610(), "m");
  return compilation ? "" : compilation.error().message;
}

TEST(LowerToTorq, RefusesWhatXramCannotHold) {
  EXPECT_THAT(problem_of("<ir_version: 8, opset_import: [\"\" : 13]>\n"
                         "m (float[4000000,1000] x) => (float[4000000,1000] y) { y = Relu (x) }"),
              HasSubstr("tensor x has 8,000,000,000 bytes, more than the 4,294,967,296 bytes of "
                        "XRAM that torq-sl2610 addresses"));
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
      compile(graph_of("<ir_version: 8, opset_import: [\"\" : 13]>\n"
                       "m (float[40000,50000] x) => (float[40000,50000] y) { y = Relu (x) }"),
              target, "m");
  ASSERT_FALSE(compilation);
  EXPECT_THAT(compilation.error().message, HasSubstr("more than 4,194,304 tasks"));
}

}  // namespace
}  // namespace npuscope::npu::torq::lowering_test
