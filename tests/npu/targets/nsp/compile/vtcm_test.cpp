#include "npu/targets/nsp/compile/tasks/task_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace npuscope::npu::nsp::vtcm_test {
namespace {

using Lifetime = VtcmAllocator::Lifetime;

TEST(VtcmAllocator, GivesNothingWhenThereIsNoRoom) {
  VtcmAllocator vtcm(1024);
  EXPECT_FALSE(vtcm.allocate(1025, 0, Lifetime::tensor));
  ASSERT_TRUE(vtcm.allocate(1024, 1, Lifetime::tensor));
  EXPECT_FALSE(vtcm.allocate(1, 2, Lifetime::tile));
}

TEST(VtcmAllocator, SendsTilesRoundRobinSoThatTransfersCanRunAhead) {
  VtcmAllocator vtcm(4096);
  std::vector<std::uint64_t> addresses;
  for (std::uint32_t owner = 0; owner < 5; ++owner) {
    const auto tile = vtcm.allocate(1024, owner, Lifetime::tile);
    ASSERT_TRUE(tile);
    addresses.push_back(tile->address);
    vtcm.release(tile->address);
  }
  EXPECT_EQ(addresses, (std::vector<std::uint64_t>{0, 1024, 2048, 3072, 0}));
}

TEST(VtcmAllocator, PacksSmallTensorsLowAndLargeOnesHighWhereNothingIsGainedByRest) {
  VtcmAllocator vtcm(4096, true);
  const auto first = vtcm.allocate(256, 0, Lifetime::tensor);
  const auto large = vtcm.allocate(2048, 1, Lifetime::tensor);
  vtcm.release(first->address);
  EXPECT_EQ(vtcm.allocate(256, 2, Lifetime::tensor)->address, 0u);  // the place that rested least
  EXPECT_EQ(large->address, 2048u);
}

TEST(VtcmAllocator, NamesTheEarlierOwnersOfEveryByte) {
  VtcmAllocator vtcm(4096);
  const auto a = vtcm.allocate(256, 7, Lifetime::tensor);
  const auto b = vtcm.allocate(256, 8, Lifetime::tensor);
  EXPECT_TRUE(a->predecessors.empty());
  vtcm.release(a->address);
  vtcm.release(b->address);
  EXPECT_EQ(vtcm.allocate(384, 9, Lifetime::tensor)->predecessors,
            (std::vector<std::uint32_t>{7, 8}));
}

// Against one owner per byte, kept the slow way.
TEST(VtcmAllocator, AgreesWithAMapOfEveryByte) {
  std::mt19937 random(3);
  constexpr std::uint64_t capacity = 64 * VtcmAllocator::alignment;
  for (int round = 0; round < 200; ++round) {
    VtcmAllocator vtcm(capacity);
    std::vector<int> live(capacity, -1), last(capacity, -1);
    std::map<std::uint64_t, std::uint64_t> blocks;
    for (int step = 0; step < 100; ++step) {
      if (!blocks.empty() && random() % 3 == 0) {
        auto victim = std::next(blocks.begin(), long(random() % blocks.size()));
        std::fill_n(live.begin() + long(victim->first), victim->second, -1);
        vtcm.release(victim->first);
        blocks.erase(victim);
        continue;
      }
      const std::uint64_t bytes = 1 + random() % (capacity / 4);
      const std::uint64_t size = (bytes + VtcmAllocator::alignment - 1) / VtcmAllocator::alignment *
                                 VtcmAllocator::alignment;
      const auto lifetime = random() % 2 == 0 ? Lifetime::tensor : Lifetime::tile;
      const auto got = vtcm.allocate(bytes, std::uint32_t(step), lifetime);
      std::uint64_t run = 0, longest = 0;
      for (std::uint64_t i = 0; i < capacity; ++i) {
        run = live[i] < 0 ? run + 1 : 0;
        longest = std::max(longest, run);
      }
      ASSERT_EQ(got.has_value(), longest >= size);
      if (!got) continue;
      std::vector<std::uint32_t> owners;
      for (std::uint64_t i = got->address; i < got->address + size; ++i) {
        ASSERT_EQ(live[i], -1);
        live[i] = step;
        if (last[i] >= 0) owners.push_back(std::uint32_t(last[i]));
        last[i] = step;
      }
      std::sort(owners.begin(), owners.end());
      owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
      ASSERT_EQ(got->predecessors, owners);
      blocks[got->address] = size;
    }
  }
}

}  // namespace
}  // namespace npuscope::npu::nsp::vtcm_test
