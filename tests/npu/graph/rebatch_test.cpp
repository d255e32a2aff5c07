// -batchsize on a model whose batch is a constant.
#include <gmock/gmock.h>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/onnx_writer.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::rebatch_test {
namespace {

using testing::HasSubstr;

Result<Graph> import_model(const test::GraphText& text, std::int64_t batch) {
  ImportOptions options;
  options.batch = batch;
  return import_onnx(as_byte_span(test::model(text)), "m.onnx", options);
}

std::string error_of(const Result<Graph>& result) {
  return result ? "no error" : result.error().message;
}

std::uint64_t macs_of(const Graph& graph) {
  std::uint64_t sum = 0;
  for (const Node& node : graph.nodes) sum += multiply_accumulates(graph, node);
  return sum;
}

// The product, its heads apart, and together again.
test::GraphText heads_of(const std::vector<std::int64_t>& apart) {
  test::GraphText text;
  text.input("x", {1, 6, 8}).weight("w", {8, 8}).integers("heads", apart);
  text.integers("together", {1, 6, 8});
  text.node({"MatMul", {"x", "w"}, {"p"}}).node({"Reshape", {"p", "heads"}, {"h"}});
  text.node({"Reshape", {"h", "together"}, {"y"}});
  return text.output("y");
}

TEST(Rebatch, OfAConstantBatchWasIgnored) {
  const auto one = import_model(heads_of({1, 6, 2, 4}), 0);
  const auto eight = import_model(heads_of({1, 6, 2, 4}), 8);
  ASSERT_TRUE(one) << error_of(one);
  ASSERT_TRUE(eight) << error_of(eight);
  EXPECT_EQ((*eight)[eight->outputs[0]].shape, (Shape{8, 6, 8}));
  EXPECT_EQ(macs_of(*eight), 8 * macs_of(*one));
}

TEST(Rebatch, AShapeThatLeavesADimensionOpenFollowsToo) {
  const auto graph = import_model(heads_of({1, 6, 2, -1}), 4);
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ((*graph)[graph->nodes[1].outputs[0]].shape, (Shape{4, 6, 2, 4}));
}

TEST(Rebatch, AShapeThatIsComputedFromTheBatchIsNotMultipliedTwice) {
  test::GraphText text;
  text.input("x", {1, 6, 8}).integers("zero", {0}).integers("rest", {-1});
  text.node({"Shape", {"x"}, {"s"}}).node({"Gather", {"s", "zero"}, {"b"}});
  text.node({"Concat", {"b", "rest"}, {"to"}, {{"axis", 0}}});
  text.node({"Reshape", {"x", "to"}, {"y"}});
  const auto graph = import_model(text.output("y"), 8);
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ((*graph)[graph->outputs[0]].shape, (Shape{8, 48}));
}

TEST(Rebatch, TheBatchThatAModelHasChangesNothing) {
  const auto graph = import_model(heads_of({1, 6, 2, 4}), 1);
  ASSERT_TRUE(graph) << error_of(graph);
  EXPECT_EQ((*graph)[graph->outputs[0]].shape, (Shape{1, 6, 8}));
}

TEST(Rebatch, IsRefusedInOneSentenceWhereTheModelCannotFollow) {
  test::GraphText inputs;
  inputs.input("x", {1, 4}).input("y", {2, 4}).node({"Relu", {"x"}, {"z"}});
  EXPECT_THAT(error_of(import_model(inputs.output("z"), 8)),
              HasSubstr("-batchsize=8: its inputs begin with different dimensions, 1 and 2"));

  test::GraphText fixed;  // the sum over the batch keeps none
  fixed.input("x", {1, 4}).node({"ReduceSum", {"x"}, {"z"}, {{"keepdims", 0}}});
  EXPECT_THAT(error_of(import_model(fixed.output("z"), 8)),
              HasSubstr("-batchsize=8: its output 'z' becomes"));

  test::GraphText odd;  // of a batch of 2, half of a row
  odd.input("x", {2, 4}).integers("to", {1, 8}).node({"Reshape", {"x", "to"}, {"z"}});
  EXPECT_THAT(error_of(import_model(odd.output("z"), 8)), HasSubstr("-batchsize=8: node "));
}

}  // namespace
}  // namespace npuscope::npu::rebatch_test
