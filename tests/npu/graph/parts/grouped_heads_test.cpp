// Heads that share keys and values: as much work, and no copy of what they share.
#include <gmock/gmock.h>

#include "npu/graph/parts/described_graph.hpp"
#include "npu/graph/parts/parts.hpp"
#include "npu/graph/semantics.hpp"

namespace npuscope::npu::grouped_heads_test {
namespace {

using test::described;
using test::imported;
using ::testing::ElementsAre;

// 6 heads of 5 queries, keys of 2 heads and 7 positions, as exporters repeat them.
test::GraphText repeated_heads() {
  test::GraphText text;
  text.input("q", {1, 6, 5, 4}).input("k", {1, 2, 7, 4}).input("v", {1, 2, 7, 4});
  text.integers("axis", {2}).integers("each", {1, 2, 3, 7, 4}).integers("heads", {1, 6, 7, 4});
  for (const std::string of : {"k", "v"}) {
    text.node({"Unsqueeze", {of, "axis"}, {of + "_one"}, {}, "", of + "_unsqueeze"});
    text.node({"Expand", {of + "_one", "each"}, {of + "_each"}, {}, "", of + "_expand"});
    text.node({"Reshape", {of + "_each", "heads"}, {of + "_all"}, {}, "", of + "_reshape"});
  }
  text.node({"Transpose",
             {"k_all"},
             {"k_t"},
             {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}},
             "",
             "transpose"});
  text.node({"MatMul", {"q", "k_t"}, {"s"}, {}, "", "scores"});
  text.node({"Softmax", {"s"}, {"p"}, {{"axis", -1}}, "", "softmax"});
  text.node({"MatMul", {"p", "v_all"}, {"y"}, {}, "", "context"});
  return text.output("y");
}

std::uint64_t macs_of(const Graph& graph) {
  std::uint64_t macs = 0;
  for (const Node& node : graph.nodes) macs += multiply_accumulates(graph, node);
  return macs;
}

TEST(GroupedHeads, WereRepeatedInMemoryForEachQueryThatSharesThem) {
  const Graph graph = imported(repeated_heads());
  const auto grouped = with_grouped_heads(graph);
  ASSERT_TRUE(grouped);
  EXPECT_THAT(
      described(*grouped),
      ElementsAre("Transpose 1 2 4 7", "Reshape 1 2 15 4", "MatMul 1 2 15 7", "Reshape 1 6 5 7",
                  "Softmax 1 6 5 7", "Reshape 1 2 15 7", "MatMul 1 2 15 4", "Reshape 1 6 5 4"));
  EXPECT_EQ(macs_of(*grouped), macs_of(graph));
}

TEST(GroupedHeads, StayRepeatedWhereSomethingElseTakesThem) {
  test::GraphText text = repeated_heads();
  text.output("k_all");
  const auto grouped = with_grouped_heads(imported(text));
  ASSERT_TRUE(grouped);  // the values
  const auto nodes = described(*grouped);
  EXPECT_EQ(std::ranges::count(nodes, "Expand 1 2 3 7 4"), 1);
  EXPECT_EQ(std::ranges::count(nodes, "MatMul 1 6 5 7"), 1);
  EXPECT_EQ(std::ranges::count(nodes, "MatMul 1 2 15 4"), 1);
}

TEST(GroupedHeads, AreNoneWhereEachHeadHasItsOwn) {
  test::GraphText text;
  text.input("q", {1, 6, 5, 4}).input("k", {1, 6, 4, 7});
  text.node({"MatMul", {"q", "k"}, {"s"}, {}, "", "scores"});
  EXPECT_FALSE(with_grouped_heads(imported(text.output("s"))));
}

}  // namespace
}  // namespace npuscope::npu::grouped_heads_test
