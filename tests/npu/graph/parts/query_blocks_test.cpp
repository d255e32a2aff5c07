// Attention in blocks of queries: as much work, each block of rows once.
#include "npu/graph/parts/parts.hpp"

#include <gmock/gmock.h>

#include "npu/graph/parts/described_graph.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::query_blocks_test {
namespace {

using test::described;
using test::imported;

// Scores of 2 heads, 10 queries and 7 keys, scaled and masked.
test::GraphText masked_attention() {
  test::GraphText text;
  text.input("q", {1, 2, 10, 4}).input("k", {1, 2, 4, 7}).input("v", {1, 2, 7, 4});
  text.input("mask", {1, 1, 10, 7}).scalar("scale", 2, test::onnx_float);
  text.node({"MatMul", {"q", "k"}, {"s"}, {}, "", "scores"});
  text.node({"Mul", {"s", "scale"}, {"t"}, {}, "", "scaled"});
  text.node({"Add", {"t", "mask"}, {"m"}, {}, "", "masked"});
  text.node({"Softmax", {"m"}, {"p"}, {{"axis", -1}}, "", "softmax"});
  text.node({"MatMul", {"p", "v"}, {"y"}, {}, "", "context"});
  return text.output("y");
}

std::optional<Graph> in_blocks(const Graph& graph, std::int64_t blocks) {
  return with_query_blocks(graph, [&](const Tensor&) { return blocks; });
}

TEST(QueryBlocks, TakeTheRowsOfQueriesAndMaskInTurn) {
  const auto blocks = in_blocks(imported(masked_attention()), 2);
  ASSERT_TRUE(blocks);
  const std::vector<std::string> block{"Slice 1 2 5 4", "MatMul 1 2 5 7", "Mul 1 2 5 7",
                                       "Slice 1 1 5 7", "Add 1 2 5 7",    "Softmax 1 2 5 7",
                                       "MatMul 1 2 5 4"};
  std::vector<std::string> all = block;
  all.insert(all.end(), block.begin(), block.end());
  all.push_back("Concat 1 2 10 4");
  EXPECT_EQ(described(*blocks), all);
}

TEST(QueryBlocks, DoTheWorkOfTheWhole) {
  const Graph graph = imported(masked_attention());
  const auto work = [](const Graph& of) {
    std::uint64_t macs = 0, elements = 0;
    for (const Node& node : of.nodes) {
      macs += multiply_accumulates(of, node);
      const OpClass op_class = classify(of, node);
      if (op_class == OpClass::softmax || op_class == OpClass::elementwise)
        elements += of[node.outputs[0]].elements();
    }
    return std::pair(macs, elements);
  };
  for (const std::int64_t blocks : {2, 3, 7, 10, 99}) {
    const auto cut = in_blocks(graph, blocks);
    ASSERT_TRUE(cut);
    EXPECT_EQ(work(*cut), work(graph)) << blocks;
    EXPECT_EQ((*cut)[cut->outputs[0]].shape, graph[graph.outputs[0]].shape);
  }
}

TEST(QueryBlocks, AreNotMadeWhereScoresAreWantedOtherwise) {
  EXPECT_FALSE(in_blocks(imported(masked_attention()), 1));
  EXPECT_FALSE(in_blocks(imported(masked_attention().output("p")), 2));
  EXPECT_FALSE(in_blocks(imported(masked_attention().output("s")), 2));
  test::GraphText twice = masked_attention();
  twice.node({"Relu", {"t"}, {"z"}}).output("z");
  EXPECT_FALSE(in_blocks(imported(twice), 2));
}

}  // namespace
}  // namespace npuscope::npu::query_blocks_test
