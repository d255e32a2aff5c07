// What a single operator can be given: an error or a graph, never a crash.
#include <gmock/gmock.h>

#include <filesystem>

#include "npu/graph/import_onnx.hpp"
#include "npu/graph/one_operator_models.hpp"
#include "npu/graph/semantics.hpp"
#include "sanitized.hpp"

namespace npuscope::npu::one_operator_test {
namespace {

using testing::HasSubstr;

Result<Graph> imported(const std::string& bytes, bool allow_unknown = false) {
  return import_onnx(as_byte_span(bytes), "one.onnx",
                     {.symbols = {}, .allow_unknown = allow_unknown});
}

std::string message_of(const test::GraphText& text) {
  const auto graph = imported(test::model(text));
  return graph ? "" : graph.error().message;
}

TEST(OneOperator, GatherReadIndicesOfFloatsAsIntegers) {
  test::GraphText text;
  text.integers("data", {3, -1}).initializer(test::tensor("at", test::onnx_float, {2}, {0, 1}));
  text.node({"Gather", {"data", "at"}, {"y"}}).output("y");
  EXPECT_THAT(message_of(text), HasSubstr("input 1 'at' is of float but must be of integers"));
}

TEST(OneOperator, GatherOfTheCaseFileCrashed) {
  const std::filesystem::path file = NPUSCOPE_SHARED_DIR "/data/cases/onnx/gather_small.onnx";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not there";
  const auto graph = import_onnx_file(file, {});
  ASSERT_FALSE(graph);
  EXPECT_THAT(graph.error().message, HasSubstr("must be of integers"));
}

TEST(OneOperator, WhereReadAConditionOfFloatsAsIntegers) {
  test::GraphText text;
  text.initializer(test::tensor("if", test::onnx_float, {2}, {0, 1}));
  text.integers("a", {1, 2}).integers("b", {3, 4});
  text.node({"Where", {"if", "a", "b"}, {"y"}}).output("y");
  EXPECT_THAT(message_of(text), HasSubstr("input 0 'if' is of float but must be of integers"));
}

TEST(OneOperator, WhateverReadsByIndexSaysThatFloatsAreNone) {
  for (const char* op : {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"}) {
    test::GraphText text;
    text.input("data", {4, 4}).input("at", {2, 2}).input("new", {2, 2});
    text.node({op, {"data", "at", "new"}, {"y"}}).output("y");
    EXPECT_THAT(message_of(text), HasSubstr("input 1 'at' is of float")) << op;
  }
}

TEST(OneOperator, AShapeOfFloatsWasSaidToBeUnknownAtCompileTime) {
  test::GraphText text;
  text.input("x", {4}).initializer(test::tensor("shape", test::onnx_float, {2}, {2, 2}));
  text.node({"Reshape", {"x", "shape"}, {"y"}}).output("y");
  EXPECT_THAT(message_of(text), HasSubstr("input 1 'shape' is of float but must be of integers"));
}

// The warning named the result that nobody reads.
TEST(OneOperator, AReductionOverAxesKnownAtRunTimeWhoseResultHasNoNameCrashed) {
  test::GraphText text;
  text.input("x", {4, 2}).input("axes", {1}, test::onnx_int64);
  text.node({"ReduceSum", {"x", "axes"}, {""}}).node({"Relu", {"x"}, {"y"}}).output("y");
  EXPECT_EQ(message_of(text), "");
}

TEST(OneOperator, OfAnyTypesRanksAndAttributesImportsOrIsRefused) {
  test::OneOperatorModels models(20);
  std::size_t all = 0, well = 0;
  for (const Operator& op : every_operator()) {
    for (std::uint64_t round = 0; round < test_support::rounds(150); ++round) {
      const auto graph = imported(models.next(op.name), round % 4 == 0);
      ++all;
      if (!graph) {
        ASSERT_THAT(graph.error().message, HasSubstr("one.onnx")) << op.name;
        continue;
      }
      ++well;
      for (const Node& node : graph->nodes) {
        classify(*graph, node);
        multiply_accumulates(*graph, node);
      }
      tensor_scales(*graph);
      for (const Tensor& tensor : graph->tensors) {
        ASSERT_TRUE(!tensor.values || tensor.values->size() == tensor.elements()) << op.name;
        ASSERT_TRUE(!tensor.float_values || tensor.float_values->size() == tensor.elements());
      }
    }
  }
  EXPECT_GT(well * 20, all);  // the generator does not only write what is refused at once
}

}  // namespace
}  // namespace npuscope::npu::one_operator_test
