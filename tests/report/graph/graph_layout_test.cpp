#include "report/graph/graph_drawing.hpp"

#include <gmock/gmock.h>

#include <random>

namespace npuscope::report::graph_layout_test {
namespace {

Drawing drawing_of(std::size_t boxes, const std::vector<std::pair<int, int>>& edges) {
  Drawing drawing;
  drawing.nodes.resize(boxes);
  for (const auto& [from, to] : edges) {
    drawing.edges.push_back({std::uint32_t(from), std::uint32_t(to), EdgeKind::data, 0});
  }
  return drawing;
}

// Once all sources stood in the first rank, and a chain of eight was drawn 7,000 pixels wide.
TEST(GraphLayout, SourcesStandOneRankAboveWhatNeedsThem) {
  // 0 -> 1 -> 2 -> 3, and 4 -> 3, 5 -> 2
  const GraphLayout layout = lay_out(drawing_of(6, {{0, 1}, {1, 2}, {2, 3}, {4, 3}, {5, 2}}));
  EXPECT_EQ(layout.rank, (std::vector<std::uint32_t>{0, 1, 2, 3, 2, 1}));
}

TEST(GraphLayout, BoxesWithoutEdgesStandLast) {
  const GraphLayout layout = lay_out(drawing_of(4, {{1, 2}}));
  EXPECT_EQ(layout.rank, (std::vector<std::uint32_t>{2, 0, 1, 2}));
}

TEST(GraphLayout, ReusedMemoryIsNoFlow) {
  Drawing drawing = drawing_of(3, {{0, 1}, {1, 2}, {0, 2}});
  drawing.edges[1].kind = EdgeKind::reuse;
  EXPECT_EQ(lay_out(drawing).rank, (std::vector<std::uint32_t>{0, 1, 1}));
}

TEST(GraphLayout, ACycleIsNoObstacle) {
  const GraphLayout layout = lay_out(drawing_of(3, {{0, 1}, {1, 0}, {1, 2}}));
  EXPECT_EQ(layout.rank[0], layout.rank[1]);
  EXPECT_LT(layout.rank[1], layout.rank[2]);
}

TEST(GraphLayout, NothingIsAnEmptyPicture) {
  const GraphLayout layout = lay_out({});
  EXPECT_EQ(layout.width, 0);
  EXPECT_EQ(layout.height, 0);
}

TEST(GraphLayout, ALongChainHasTheShapeOfAPage) {
  std::vector<std::pair<int, int>> chain;
  for (int i = 0; i + 1 < 200; ++i) chain.emplace_back(i, i + 1);
  const GraphLayout layout = lay_out(drawing_of(200, chain));
  EXPECT_LT(layout.height, 3 * layout.width);
  EXPECT_LT(layout.width, 3 * layout.height);
}

// Of 200 random graphs, cycles among them.
TEST(GraphLayout, NoTwoBoxesOverlapAndAllAreInside) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int boxes = int(1 + random() % 60);
    std::vector<std::pair<int, int>> edges;
    for (int i = 0; i < int(random() % 90); ++i) {
      const int from = int(random() % unsigned(boxes)), to = int(random() % unsigned(boxes));
      if (from != to) edges.emplace_back(from, to);
    }
    const GraphLayout layout = lay_out(drawing_of(std::size_t(boxes), edges));
    for (int a = 0; a < boxes; ++a) {
      const GraphPoint at = layout.place[std::size_t(a)];
      EXPECT_GE(at.x, 0);
      EXPECT_GE(at.y, 0);
      EXPECT_LE(at.x + graph_box_width, layout.width + 1e-6);
      EXPECT_LE(at.y + graph_box_height, layout.height + 1e-6);
      for (int b = 0; b < a; ++b) {
        const GraphPoint other = layout.place[std::size_t(b)];
        EXPECT_TRUE(std::abs(at.x - other.x) >= graph_box_width ||
                    std::abs(at.y - other.y) >= graph_box_height)
            << "round " << round << ", boxes " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace npuscope::report::graph_layout_test
