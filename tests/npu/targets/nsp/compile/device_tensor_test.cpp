#include "npu/targets/nsp/compile/tasks/compile_context.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace npuscope::npu::nsp::device_tensor_test {
namespace {

TEST(Shares, CoverTheExtentInWholeUnitsFirstCoresFirst) {
  EXPECT_EQ(shares(32, 1, 14),
            (std::vector<std::uint64_t>{3, 3, 3, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(shares(100, 32, 4), (std::vector<std::uint64_t>{32, 32, 32, 4}));
  EXPECT_EQ(shares(32, 32, 3), (std::vector<std::uint64_t>{32, 0, 0}));
}

TEST(Shares, AlwaysAddUp) {
  for (std::int64_t extent = 0; extent < 70; ++extent) {
    for (std::int64_t unit = 1; unit < 9; ++unit) {
      for (std::uint32_t cores = 1; cores < 17; ++cores) {
        const auto parts = shares(extent, unit, cores);
        EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}),
                  std::uint64_t(extent));
      }
    }
  }
}

TEST(PartitionInView, FollowsColumnsIntoHeads) {
  const Partition columns{{1, 32, 4096}, 2, 128};
  const Partition heads = partition_in_view(columns, {1, 32, 32, 128});
  EXPECT_EQ(heads.axis, 2);
  EXPECT_EQ(heads.unit, 1);
  const Partition back = partition_in_view(heads, {1, 32, 4096});
  EXPECT_EQ(back.axis, 2);
  EXPECT_EQ(back.unit, 128);
}

TEST(PartitionInView, EndsWhereAStepWouldBeCut) {
  EXPECT_EQ(partition_in_view({{1, 32, 4096}, 2, 32}, {1, 32, 32, 128}).axis, incompatible);
  EXPECT_EQ(partition_in_view({{2, 3, 4}, 1, 1}, {6, 4}).axis, incompatible);
  EXPECT_EQ(partition_in_view({{2, 3, 4}, 0, 1}, {6, 4}).axis, 0);
  EXPECT_EQ(partition_in_view({{2, 3, 4}, 0, 1}, {6, 4}).unit, 3);
}

TEST(PartitionInView, ReplicatedIsReplicatedInEveryShape) {
  EXPECT_EQ(partition_in_view({{8, 8}, replicated, 1}, {64}).axis, replicated);
}

TEST(Satisfies, ReplicatedServesEveryNeedAndASplitOnlyItself) {
  const Shape shape{64, 64};
  EXPECT_TRUE(satisfies({shape, replicated, 1}, {shape, 1, 32}, 4));
  EXPECT_TRUE(satisfies({shape, 1, 16}, {shape, 1, 16}, 4));
  EXPECT_FALSE(satisfies({shape, 1, 32}, {shape, 1, 16}, 4));
  EXPECT_FALSE(satisfies({shape, 0, 16}, {shape, 1, 16}, 4));
  EXPECT_FALSE(satisfies({shape, 0, 16}, {shape, replicated, 1}, 4));
}

}  // namespace
}  // namespace npuscope::npu::nsp::device_tensor_test
