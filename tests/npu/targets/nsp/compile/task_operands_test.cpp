// What the descriptor says that a task works on: its own slice, not the whole node's operands.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "npu/targets/nsp/compile/compile_fixture.hpp"
#include "npu/targets/nsp/compile/tasks/task_writer.hpp"
#include "npu/targets/nsp/compile/told_operands.hpp"

namespace npuscope::npu::nsp::task_operands_test {
namespace {

using ::testing::ElementsAre;

// 816 of 856 slices of ResNet-50 disagreed with their output size, and all 228 convolutions said
// "in DDR" beside memory TCM.
TEST(TaskOperands, OfATaskWereThoseOfItsWholeNode) {
  const std::vector<Graph> models{
      repository_model("light_resnet50.onnx"),     repository_model("light_squeezenet.onnx"),
      generated_model("bert-base", {1, 128, 0}),   generated_model("bert-base", {8, 384, 0}, 2),
      generated_model("amber-7b", {1, 1, 128}, 2), generated_model("qwen3-0.6b", {1, 32, 128}, 2)};
  OperandCheck found;
  for (const Graph& graph : models) {
    for (std::uint32_t cores : {1u, 3u, 4u, 16u}) {
      CompileOptions options = options_for(cores);
      options.op_stats_verbosity = 2;
      found.add(compiled(graph, options), graph.name + " on " + std::to_string(cores));
    }
  }
  EXPECT_GT(found.tasks, 50'000u);
  EXPECT_TRUE(found.wrong.empty()) << found.summary();
}

// By hand: 12 heads, 768 columns and 3072 columns in two chunks, on four cores.
TEST(TaskOperands, AreARowsByColumnsTileOnEachCore) {
  const auto network = compiled(generated_model("bert-base", {1, 128, 0}, 1), options_for(4));
  std::map<std::string, std::set<std::string>> shapes;
  const StringPool& texts = network.descriptor.stats.texts;
  for (const auto& core : network.descriptor.stats.ops) {
    for (const auto& group : core) {
      for (const auto& op : group) {
        shapes[fmt::format("{} of {}", texts[op.kind], texts[op.name])].emplace(texts[op.shape]);
      }
    }
  }
  const auto of = [&](const std::string& kind, const std::string& node) {
    return shapes[kind + " of /encoder/layer.0/" + node];
  };
  const std::string product = "aicconvolutiond32";
  EXPECT_THAT(of(product, "attention/self/query/MatMul"),
              ElementsAre("Dest [1 x 128 x 192], Src [1 x 128 x 768], Src1 [768 x 192], "
                          "Src2 [192]"));
  EXPECT_THAT(of("aiccopytovtcm", "attention/self/query/MatMul"), ElementsAre("Dest [768 x 192]"));
  EXPECT_THAT(of(product, "attention/self/MatMul/__2"),
              ElementsAre("Dest [1 x 1 x 128 x 128], Src [1 x 1 x 128 x 64], "
                          "Src1 [1 x 1 x 64 x 128]"));
  EXPECT_THAT(of(product, "intermediate/dense/MatMul/__1"),
              ElementsAre("Dest [1 x 128 x 384], Src [1 x 128 x 768], Src1 [768 x 384], "
                          "Src2 [384]"));
  EXPECT_THAT(of("aicsoftmax", "attention/self/Softmax"),
              ElementsAre("Dest [1 x 3 x 128 x 128], Src [1 x 3 x 128 x 128]"));
}

TEST(PartOfShape, IsSomeOfTheOutermostDimensionThatComesOutEven) {
  EXPECT_THAT(part_of_shape({2, 8, 6}, 96), ElementsAre(2, 8, 6));
  EXPECT_THAT(part_of_shape({2, 8, 6}, 48), ElementsAre(1, 8, 6));
  EXPECT_THAT(part_of_shape({2, 8, 6}, 24), ElementsAre(1, 4, 6));
  EXPECT_THAT(part_of_shape({2, 8, 6}, 60), ElementsAre(1, 10, 6));
  EXPECT_THAT(part_of_shape({2, 8, 6}, 7), ElementsAre(1, 1, 7));
}

}  // namespace
}  // namespace npuscope::npu::nsp::task_operands_test
